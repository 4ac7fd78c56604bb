"""Removes the texts of a finished job from its folder, and keeps ids, ranks, scores and vectors.

Each text is replaced by its id, or by the number of its row, so that a result can still be told which text it is of.
Gone are the texts, the other cells of their rows, rows as they stood in the file, bodies of requests, and the hashes
by which the same texts are found again: one of a short text can be guessed. SQLite
overwrites what it removes; what an SSD, a backup or a snapshot still holds is beyond any program.
"""

import sqlite3
from contextlib import suppress

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.job_folder.fingerprints import fingerprints_path
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.packed_texts import forget_file
from cfbatch_gui.core.job_folder.schema import ROW_FORM, metadata_value, put_metadata_value, transaction
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import remove_own_file

_FACT = "texts_forgotten"  # when they were removed, in seconds since 1970
_STATEMENTS = """
UPDATE texts SET text = CASE WHEN text_id <> '' THEN text_id ELSE 'Row ' || row END;
UPDATE queries SET text = CASE WHEN query_id <> '' THEN query_id ELSE 'Row ' || row END;
DELETE FROM source_rows;
DELETE FROM raw_rows
"""


def forget_texts(folder: JobFolder, now: float) -> None:
    """Remove the texts, whole or not at all. `now` is in seconds since 1970.

    Bodies and the file of texts go first: they can be written anew from `data.db` as long as it has the texts. Doing it
    again does no harm. Raises DataError, DiskFull.
    """
    with folder.open() as database:
        database.execute("PRAGMA secure_delete = ON")
        paths = (*(folder.path / "bodies").glob("*.json"), *folder.path.glob("texts-*.json"), fingerprints_path(folder))
        for path in paths:
            remove_own_file(path)
        with transaction(database):
            for statement in _STATEMENTS.split(";"):
                database.execute(statement)
            database.execute("DELETE FROM facts WHERE name = ?", (ROW_FORM,))
            forget_file(database)
            put_metadata_value(database, _FACT, now)
        with suppress(sqlite3.OperationalError):  # no room for it
            database.execute("VACUUM")  # gives the room back; without it the pages are empty all the same


def check_has_texts(folder: JobFolder) -> None:
    """Raise UsageError where the texts were removed: what stands for them must never be sent as texts."""
    if texts_forgotten(folder) is not None:
        raise UsageError(
            message(
                "The texts of this job were removed, so it cannot be sent again, copied or judged. Open its file in a"
                " new job."
            )
        )


def texts_forgotten(folder: JobFolder) -> float | None:
    """When the texts were removed, in seconds since 1970; None while they are there. Raises DataError."""
    if not folder.data.exists():
        return None
    with folder.open(read_only=True) as database:
        return _forgotten(database)


def _forgotten(database: sqlite3.Connection) -> float | None:
    found = metadata_value(database, _FACT)
    return float(found) if isinstance(found, int | float) else None
