"""A PostgreSQL server that a test starts and that ends with it."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest


def program(name):
    """Where one of the server's programs is: Debian keeps them apart."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = str(places[-1]) if places else shutil.which(name)
    if found is None:
        pytest.skip(f"needs {name}: install PostgreSQL (Debian: apt-get install postgresql)")
    return found


@contextlib.contextmanager
def postgres_server(folder):
    """Its address, without a user: `owner` is let in, others need a password."""
    adbc = pytest.importorskip("adbc_driver_postgresql.dbapi", reason="needs rosenblatt[postgres]")
    initdb, postgres = program("initdb"), program("postgres")
    user = []
    if os.geteuid() == 0:  # the server does not run as root
        user = ["runuser", "-u", "postgres", "--"]
        for place in [folder, *folder.parents[:3]]:
            place.chmod(0o755)
        shutil.chown(folder, "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = folder / "data"
    made = [*user, initdb, "-D", str(data), "-U", "owner", "-A", "trust", "-N", "-E", "UTF8"]
    subprocess.run(made, check=True, capture_output=True, cwd="/")
    rules = "host all owner 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
    write = [*user, "tee", str(data / "pg_hba.conf")]
    subprocess.run(write, input=rules, text=True, check=True, capture_output=True, cwd="/")
    options = ["-F", "-p", str(port), "-h", "127.0.0.1", "-k", ""]
    running = subprocess.Popen(
        [*user, postgres, "-D", str(data), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
    )
    address = f"127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                execute(address, "SELECT 1")
                break
            except adbc.OperationalError:
                time.sleep(0.1)
        yield address
    finally:
        running.terminate()
        running.wait()


def execute(address, statements):
    """Run statements as the owner; what the last one gives."""
    import adbc_driver_postgresql.dbapi as adbc

    owner = f"postgresql://owner@{address}/postgres"
    with adbc.connect(owner, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements.split(";"):
            if statement.strip():
                cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []
