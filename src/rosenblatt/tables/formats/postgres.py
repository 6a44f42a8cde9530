"""Reading a table or a query from a PostgreSQL server, in a transaction that may only read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rosenblatt.tables.extras import needed
from rosenblatt.tables.formats.arrow_files import stage_arrow_table
from rosenblatt.tables.formats.databases import chosen_table, in_quotes, no_query
from rosenblatt.tables.storage import TableError, interruptible

if TYPE_CHECKING:
    from rosenblatt.tables.columns import Asked, StagedFile
    from rosenblatt.tables.storage import Storage

_TABLES = """
    SELECT table_schema, table_name FROM information_schema.tables
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
    ORDER BY table_schema <> 'public', table_type, table_schema, table_name
"""
# How the server's words are recognised, and what to do. A password is never among them.
_TROUBLE = (
    (r"password authentication failed", "the password is wrong"),
    (r"no password supplied", "a password is needed"),
    (r"Connection refused|could not connect|No such file", "no server answers there"),
    (r"could not translate host name", "there is no such host"),
    (r'database "[^"]*" does not exist', "there is no such database"),
    (r'role "[^"]*" does not exist', "there is no such user"),
    (r"permission denied[^\n]*", ""),
    (r"timeout expired", "no server answers in time"),
)
_PASSWORDS = "set PGPASSWORD, or write it to ~/.pgpass"


def is_address(path: str) -> bool:
    """Whether it names a database on a server instead of a file."""
    return path.startswith(("postgresql://", "postgres://"))


def without_password(address: str) -> str:
    """The address as it may be shown."""
    shown = re.sub(r"//[^/?#]*@", _user_only, address, count=1)
    return re.sub(r"([?&](?:password|sslpassword)=)[^&#]*", r"\1...", shown)


def _user_only(match: re.Match[str]) -> str:
    user = match.group()[2:-1].partition(":")[0]
    return f"//{user}@" if user else "//"


def stage_postgres(address: str, shown: str, storage: Storage, asked: Asked) -> StagedFile:
    """Read the rows of a table or query into the table `rows` of the storage."""
    needed("pyarrow", "postgres", shown)
    adbc = needed("adbc_driver_postgresql.dbapi", "postgres", shown, "adbc-driver-postgresql")
    names: list[str] = []
    try:
        with adbc.connect(_patient(address)) as connection, connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            notes: list[str] = []
            query = asked.query
            cursor.execute(_TABLES)
            found = cursor.fetchall()
            names = [n if schema == "public" else f"{schema}.{n}" for schema, n in found]
            if query is None:
                name, notes = chosen_table(names, asked.table, shown)
                schema, table = found[names.index(name)]
                query = f"SELECT * FROM {in_quotes(schema)}.{in_quotes(table)}"
            answer = _answer(cursor, query.strip().rstrip(";"))
            if not answer.schema.names:
                raise TableError(no_query(shown, "it has no columns", names))
            staged = stage_arrow_table(answer, shown, storage, list(answer.schema.names))
            connection.rollback()
    except adbc.Error as error:
        raise TableError(_trouble(error, shown, address, asked.query, names)) from None
    staged.notes[:0] = notes
    return staged


def _patient(address: str) -> str:
    """The address with a limit on how long to wait for a server that does not answer."""
    if "connect_timeout" in address:
        return address
    return f"{address}{'&' if urlsplit(address).query else '?'}connect_timeout=10"


def _answer(cursor: Any, query: str) -> Any:
    """The rows as pyarrow's table, decimal numbers as floats."""
    pyarrow = needed("pyarrow", "postgres", "the answer")

    class Cancel:
        interrupt = staticmethod(cursor.adbc_cancel)

    cursor.execute(query)
    answer = interruptible(Cancel(), cursor.fetch_arrow_table)
    for j, field in enumerate(answer.schema):
        if (field.metadata or {}).get(b"ADBC:postgresql:typname") == b"numeric":
            texts = answer.column(j).cast(pyarrow.string())
            answer = answer.set_column(j, field.name, texts.cast(pyarrow.float64()))
    return answer


def _trouble(
    error: Exception, shown: str, address: str, query: str | None, tables: list[str]
) -> str:
    # The server repeats the query, or a line of it with what is wrong under it.
    text = re.split(r"\bQuery was:|\bLINE \d+:|\. SQLSTATE:", " ".join(str(error).split()))[
        0
    ].strip()
    for pattern, what in _TROUBLE:
        if found := re.search(pattern, text):
            what = what or found.group()
            remedy = _PASSWORDS if "password" in what else "check the address and the server"
            return f"{shown} refuses: {what}; {remedy}"
    secret = urlsplit(address).password
    reason = re.sub(r"^.*?ERROR: *", "", text) if "ERROR:" in text else text
    reason = reason.replace(secret, "...") if secret else reason
    if query is not None:
        return no_query(shown, reason, tables)
    return f"{shown} cannot be read: {reason[:160]}"
