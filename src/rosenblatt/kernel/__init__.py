"""The kernel perceptron: mistakes remembered as support vectors.

Begin with `estimator` (`rosenblatt.KernelPerceptron`), then `training`, the run in blocks, and
`loops`, the textbook's. `values` computes kernel values with bounds on their rounding, `rules`
what is kept of a run, `device` the same on an accelerator. May use `bounds`.
"""
