"""Rows on the workers of a Dask cluster, as one more source of blocks.

Begin with `source.py`: what is to be done with a block is done where it lies, and only what comes
of it travels. `reading.py` makes such a source of Dask's arrays and data frames, `engine.py` gives
tasks to the workers and says in one line what went wrong there. Dask itself is imported when it
is needed. The solvers know nothing of it: they hand a function to `data.sources.map_pieces`.
"""
