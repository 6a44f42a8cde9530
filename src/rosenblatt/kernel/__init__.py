"""The kernel perceptron: mistakes remembered as support vectors.

Begin with `estimator` (`rosenblatt.KernelPerceptron`): its `fit` runs a `Run` with the rule of
`dual_rule`, or one of `dual_variants`, whose epoch goes through the samples in blocks and calls
the textbook's `loops`. `choice` says which kernel is meant, `dual_fits` is what comes before a run
and after it, `decisions` are the answers of a fitted model, `dual_states` what a checkpoint holds,
`scores` knows how far scores can be off, `ledger` what they contain, `backlog` is work for idle
threads, `kernel_values` computes values with bounds on their rounding, `given_values` those that
count as exact, `device` all of them on an accelerator. May use `bounds`.
"""
