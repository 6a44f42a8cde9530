"""What a model is worth on rows that it has not learned from.

Begin with `plans`: which rows are learned from and which are judged by, in folds that share out
the classes, keep groups together, and may be repeated. `refits` encodes each fold of a plan by
itself, fits any number of candidates to it, and has their answers to the rows left out. `tuning`
chooses a number of a model by folds of the rows to learn from; `kinds` are those that `comparing`
runs on the same folds, and `paired` tells whether two of them differ by more than chance;
`bending` tries on one fold whether a curve would help. `calibration` makes probabilities of the
answers.

Imports `tables`, for it encodes; what the answers come to is said in `report`, which is above it.
"""
