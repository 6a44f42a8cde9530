"""The question which hyperplane is best.

Begin with `estimator` (`rosenblatt.MaxMarginClassifier`, `rosenblatt.SoftMarginClassifier`);
`proving` lets the solvers of `nearest` look for the hyperplane and claims only what is proved,
`exact_margin` settles in rational numbers what floats cannot, `path` follows the price of slack.
May use `separation`.
"""
