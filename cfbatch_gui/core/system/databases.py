"""Databases whose writes are on the disk when they return."""

import sqlite3
from pathlib import Path, PurePath

from cfbatch_gui.core.messages import Message, stored
from cfbatch_gui.core.system.files import OWN_FOLDER, create_own_file

sqlite3.register_adapter(Message, stored)  # the disk keeps codes of sentences


def address_of(path: PurePath) -> str:
    """The address of a whole path for SQLite, which refuses hosts: a share is part of the path."""
    address = path.as_uri()
    return address if address.startswith("file:///") else address.replace("file://", "file:////", 1)


def connect_durably(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode that any thread may use. Raises sqlite3.Error."""
    path.parent.mkdir(mode=OWN_FOLDER, parents=True, exist_ok=True)
    if not read_only:
        create_own_file(path)
    address = f"{address_of(path.resolve())}?mode={'rw' if read_only else 'rwc'}"
    database = sqlite3.connect(address, uri=True, timeout=30.0, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA synchronous = EXTRA")  # also the folder's entry of the journal, for a power cut
        if read_only:
            # Not SQLite's own "ro": that cannot roll back what a crash has left half written.
            database.execute("PRAGMA query_only = ON")
    except BaseException:
        database.close()  # a damaged file is put aside next, which Windows refuses while it is open
        raise
    return database
