"""Learning a hyperplane from mistakes: the perceptron, and the delta rule.

Begin with `estimator` (`rosenblatt.Perceptron`) or `adaline`; `training` is a run, whatever the
rule; `online` and `batch` take an epoch, `loops` is the textbook's. `pocket` keeps the best
vector, `possible_mistakes` leaves out rows that cannot be mistakes, `cycles` explains a run that
repeats itself. May use `bounds` and `separation`.
"""
