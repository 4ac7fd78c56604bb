"""Databases whose writes are on the disk when they return."""

import os
import sqlite3
from pathlib import Path, PurePath
from urllib.parse import quote_from_bytes

from cfbatch_gui.core.system.files import OWN_FOLDER, create_own_file


def database_address(path: PurePath, *, mode: str) -> str:
    """The address of a path for SQLite.

    It refuses hosts, so a share is part of the path (https://www.sqlite.org/uri.html).
    """
    plain = path.as_posix()
    root = "" if plain.startswith("/") else "/"  # before the letter of a drive
    return f"file://{root}{quote_from_bytes(os.fsencode(plain), safe='/:')}?mode={mode}"


def connect_durably(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection that any thread may use. Raises sqlite3.Error."""
    path.parent.mkdir(mode=OWN_FOLDER, parents=True, exist_ok=True)
    if not read_only:
        create_own_file(path)
    address = database_address(path.resolve(), mode="rw" if read_only else "rwc")
    database = sqlite3.connect(address, uri=True, timeout=10.0, isolation_level=None, check_same_thread=False)
    try:
        if read_only:
            # Not SQLite's own "ro": that cannot roll back what a crash has left half written.
            database.execute("PRAGMA query_only = ON")
        else:
            database.execute("PRAGMA journal_mode = DELETE")
            database.execute("PRAGMA synchronous = EXTRA")  # also the folder's entry of the journal, for a power cut
    except BaseException:
        database.close()  # a damaged file is put aside next, which Windows refuses while it is open
        raise
    return database
