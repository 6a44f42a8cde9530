"""Models as programs for others: a function in C or Python, a query in SQL, a graph.

Begin with `formula`, which is what a linear model computes from the cells of a row, and `curves`,
what a curved one adds to it; `python_code`, `c_code` and `sql` write it down, and `onnx_graph`
makes a graph of the same parts. Imports `tables` and `files` and what is below them.
"""
