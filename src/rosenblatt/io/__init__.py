"""Tables in, models in and out."""

from rosenblatt.io.models import ModelFileError, ModelFileWarning, load, save
from rosenblatt.io.tables import Table, TableError, read_table

__all__ = [
    "ModelFileError",
    "ModelFileWarning",
    "Table",
    "TableError",
    "load",
    "read_table",
    "save",
]
