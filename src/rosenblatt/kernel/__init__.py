"""The kernel perceptron: mistakes remembered as support vectors.

Begin with `estimator` (`rosenblatt.KernelPerceptron`): its `fit` runs a `Run` with the rule of
`dual_rule`, or one of `dual_variants`, whose epoch goes through the samples in blocks and calls
the textbook's `loops`. `choice` says which kernel is meant, `dual_fits` is what comes before a run
and after it, and the answers of a fitted model, `dual_states` what a checkpoint holds, `scores`
knows how far scores can be off, `kernel_values` computes values with bounds on their rounding,
`device` the same on an accelerator. May use `bounds`.
"""
