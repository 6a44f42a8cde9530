"""Tables in, features out.

Begin with `table` (`rosenblatt.io.read_table`). `staging` goes from what a user names to rows:
`input_files` finds the file, and in `formats` each format has a reader; `storage` is where the rows
lie meanwhile (`rows_in_memory`, `rows_on_disk` in `mapped_columns`, or `staged_rows`), and
`file_states` tells whether a file is still what it was. `cells` says what a cell is
(`written_numbers` and `written_dates`: as people write them), `kinds` judges what a column holds,
and `remarks` tells what was assumed; `output` writes a table. `encoder`
(`rosenblatt.TableEncoder`) turns a table into features: `frames` are the tables and columns that
Python holds, `texts` those of words, `feature_values` what they become; `sparse_features` does so
with one that is sparse. May import files, contract and what is below them.
"""
