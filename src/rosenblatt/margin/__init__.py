"""The question which hyperplane is best.

Begin with `estimator` (`rosenblatt.MaxMarginClassifier`, `rosenblatt.SoftMarginClassifier`);
`solver` moves the data to where those of `nearest` are at ease, and lets these look for the
hyperplane, `proving` claims only what is proved of it, `exact_margin` settles in rational numbers
what floats cannot, `path` follows the price of slack. May use `separation`.
"""
