"""Learning a hyperplane from mistakes: the perceptron, and the delta rule.

Begin with `estimator` (`rosenblatt.Perceptron`) or `adaline`: their `fit` runs a `Run` with a
rule, whose epoch is in `updates` or `delta` and calls the textbook's `loops`. `linear_rule` is
what the rules share. `pocket` keeps the best vector, `possible_mistakes` leaves out rows that
cannot be mistakes, `cycles` explains a run that repeats itself. May use `bounds` and `separation`.
"""
