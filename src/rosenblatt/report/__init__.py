"""What there is to say about a fit: facts first, words last.

Begin with `facts`: frozen values that a terminal, ``--json`` and a page show alike. `fits` takes
them from a fitted classifier, `verdicts` finds out whether anything could have separated its
rows, `saved` reads them from a model file. The words are made from facts alone, in
`fit_report`, `verdict_sentences` and `check_report`.

Imports the rooms of the library, `tables` and `files`; the command is above it.
"""
