"""Tables in, features out.

Begin with `table` (`rosenblatt.io.read_table`). `input_files` finds the file; `dialects` judges how
delimited text is written, `csv_files` reads it, `typed_files` reads Parquet and JSON, `storage` is
where the rows lie meanwhile. `cells` says what a cell is, `columns` what a column holds; `output`
writes a table. `encoder` (`rosenblatt.TableEncoder`) turns a table into features: `frames` are the
tables and columns that Python holds, `texts` those of words, `feature_values` what they become. May
import files, contract and what is below them.
"""
