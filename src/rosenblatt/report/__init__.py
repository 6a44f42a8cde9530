"""What there is to say about a fit, a check or a bound: facts first, words last.

Begin with `facts`: frozen values that a terminal, ``--json`` and a page show alike. `fits` takes
them from a fitted classifier and its table, `judging` finds out whether anything could have
separated its rows, `saved` reads them from a model file; `checks` has those of a table that was
checked. The words are made from facts alone, in `fit_report` (with `margin_report`),
`check_report`, `bound_report` and `sentences`; `terminal` lays them out. `contributions` takes the
decision values of linear models apart by columns, `units` has weights per unit of the table.

Imports the rooms of the library, `tables` and `files`; the command is above it.
"""
