"""Tables in, models and certificates in and out."""

from rosenblatt.files.certificates import CertificateFileError, load_certificate, save_certificate
from rosenblatt.files.models import ModelFileWarning, load, save
from rosenblatt.files.wholeness import ModelFileError
from rosenblatt.tables.table import Table, TableError, read_table

__all__ = [
    "CertificateFileError",
    "ModelFileError",
    "ModelFileWarning",
    "Table",
    "TableError",
    "load",
    "load_certificate",
    "read_table",
    "save",
    "save_certificate",
]
