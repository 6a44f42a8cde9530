"""Labelled samples in blocks of rows.

Begin with `sources`: where blocks come from; `rows` has dense and sparse rows, the only operations
on them, and the dot product with its fixed order of additions, `identical` which rows are the
same, `tile_sums` how rows are added up, `compiled` how loops are
compiled, and `machine_code` where they are kept. Imports `exact`.
"""
