"""Learning a hyperplane from mistakes: the perceptron, and the delta rule.

Begin with `estimator` (`rosenblatt.Perceptron`) or `adaline`: their `fit` runs a `Run` with a
rule of `updates`, whose epoch calls the textbook's `loops`. `linear_rule` is what the rules share.
`pocket` keeps the best vector, `cycles` explains a run that repeats itself. May use `bounds` and
`separation`.
"""
