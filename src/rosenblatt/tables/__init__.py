"""Tables in, features out.

Begin with `table` (`rosenblatt.io.read_table`). `staging` goes from what a user names to rows:
`input_files` finds the file, `formats` lists the formats, and each has a reader: `dialects` judges
how delimited text is written and `csv_files` reads it; `typed_files` reads Parquet and JSON, and so
on; `storage` is where the rows lie meanwhile. `cells` says what a cell is, `columns` what a column
holds; `output` writes a table. `encoder` (`rosenblatt.TableEncoder`) turns a table into features:
`frames` are the tables and columns that Python holds, `texts` those of words, `feature_values` what
they become; `sparse_features` does so with one that is sparse. May import files, contract and what
is below them.
"""
