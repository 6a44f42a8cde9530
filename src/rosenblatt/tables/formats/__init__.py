"""The formats of tables, a reader for each.

Begin with `recognition`, which lists them and tells which a file has. A reader puts the rows into a
storage, or into memory, and says of the columns what the file says: `csv_files` reads delimited
text, whose writing `dialects` judges, mostly by the compiled loops of `plain_csv`, which
`plain_csv_on_disk` has for files of any size; `parquet_files` reads Parquet where it lies,
`typed_files` JSON, `databases` and `postgres` what answers to queries. What a cell is and what
a column holds is judged afterwards, and alike for all. Only `staging` uses these files; they may
import the rest of the room but that and `table`.
"""
