"""Arrays in a job's `data.db` that can be made anew: the hashes of its texts, and their places on the map."""

import io
import sqlite3
import zipfile
import zlib

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder.folder import JobFolder

HASHES, MAP = "hashes", "map"


def keep_arrays(folder: JobFolder, name: str, **arrays: NDArray[np.generic]) -> None:
    """Keep them in place of earlier ones, where there is room and the folder can be written."""
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    try:
        with folder.open() as database:
            database.execute("INSERT OR REPLACE INTO kept_arrays VALUES(?, ?)", (name, content.getbuffer()))
    except DataError:
        return


def kept_arrays(database: sqlite3.Connection, name: str) -> dict[str, NDArray[np.generic]] | None:
    """None when there are none, or they are not as they were written, as their checksums say."""
    found = database.execute("SELECT content FROM kept_arrays WHERE name = ?", (name,)).fetchone()
    try:
        with np.load(io.BytesIO(found[0] if found else b""), allow_pickle=False) as kept:
            return dict(kept)
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error):
        return None
