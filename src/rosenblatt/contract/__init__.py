"""What the classifiers owe scikit-learn, and share.

Begin with `classifier`: reading data, fitted attributes, predictions; `epochs` has `fit` and
`partial_fit` of those trained in epochs, `parameters` the checks of what they are given. Knows
scikit-learn, `running` and `data`, but no algorithm.
"""
