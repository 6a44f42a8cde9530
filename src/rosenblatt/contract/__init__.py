"""What the classifiers owe scikit-learn, and share.

Begin with `classifier`: reading data, fitted attributes, predictions; `epochs` has what those
trained in epochs need beside, `parameters` the checks of what they are given. Knows
scikit-learn, `running` and `data`, but no algorithm.
"""
