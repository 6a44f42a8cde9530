"""Tables in, features out.

Begin with `table` (`rosenblatt.io.read_table`). `input_files` finds the file; `dialects` judges how
delimited text is written, `csv_files` reads it, `typed_files` reads Parquet and JSON, `storage` is
where the rows lie meanwhile. `cells` says what a cell is, `columns` what a column holds; `output`
writes a table. `encoder` (`rosenblatt.TableEncoder`) turns a table into features. May import files,
contract and what is below them.
"""
