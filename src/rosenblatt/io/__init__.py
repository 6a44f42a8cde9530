"""Tables in, models and certificates in and out."""

from rosenblatt.io.certificates import CertificateFileError, load_certificate, save_certificate
from rosenblatt.io.models import ModelFileError, ModelFileWarning, load, save
from rosenblatt.io.tables import Table, TableError, read_table

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
