"""Tables in, features out.

Begin with `tables` (`rosenblatt.io.read_table`); `dialects`, `csv_files` and `input_files` find
out what a file is, `columns` what a column holds, `storage` where the table lies meanwhile,
`output` writes one. `encoder` turns columns into features.
"""
