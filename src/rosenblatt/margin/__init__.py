"""The question which hyperplane is best.

Begin with `estimator` (`rosenblatt.MaxMarginClassifier`, `rosenblatt.SoftMarginClassifier`);
`problem` has the data where solvers are at ease, `solver` lets those of `nearest` look for the
hyperplane, `proving` claims only what is proved of it, `exact_margin` settles in rational numbers
what floats cannot, `path` follows the price of slack. May use `separation`.
"""
