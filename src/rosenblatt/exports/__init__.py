"""Models as programs for others: a function in C or Python, a query in SQL.

Begin with `formula`, which is what a linear model computes from the cells of a row; `python_code`,
`c_code` and `sql` write it down. Imports `tables` and `files` and what is below them.
"""
