"""The kernel perceptron: mistakes remembered as support vectors.

Begin with `estimator` (`rosenblatt.KernelPerceptron`): its `fit` runs a `Run` with the rule of
`rule`, or one of `rules`, whose epoch goes through the samples in blocks and calls the textbook's
`loops`. `scores` knows how far scores can be off, `values` computes kernel values with bounds on
their rounding, `device` the same on an accelerator, `deciding` the answers of a fitted model.
May use `bounds`.
"""
