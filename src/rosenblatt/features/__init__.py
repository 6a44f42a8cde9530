"""Feature maps as steps of a pipeline: a hyperplane in the features is a curve in the data.

All of them are in `estimators`. They know scikit-learn, the kernels, and how an estimator's
parameters name one.
"""

from rosenblatt.features.estimators import Map, Nystroem, Polynomial, RandomFourier, Squares

__all__ = ["Map", "Nystroem", "Polynomial", "RandomFourier", "Squares"]
