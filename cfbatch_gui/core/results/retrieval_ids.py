"""Ids of queries and documents for programs that evaluate retrieval, which split lines at white space.

They also decide the order of equal scores, which is that of trec_eval: by id, descending. So it must be these ids, as
they are written, also where nothing is exported.

White space, control characters, quotes and the percent sign are percent-encoded as in URLs (%20), so that different
ids stay different and can be decoded. Queries and texts without an id get one made from their number or row.
"""

import re
import sqlite3

from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder

_UNSAFE = re.compile(r"""[\s\x00-\x20\x7f\x85\u200b\ufeff"%]""")
# Layouts in which a row of a file is one text; in the others a row has several.
_ROW_IS_TEXT = frozenset({Layout.LONG, Layout.SHARED, Layout.CANDIDATES})


class RetrievalIds:
    """The ids of one export; it counts the ids that were encoded."""

    def __init__(self, folder: JobFolder) -> None:
        with folder.open(read_only=True) as database:
            self._row_is_text = schema.metadata_value(database, "layout") in _ROW_IS_TEXT
            self._queries_have_ids = _any(database.execute("SELECT 1 FROM queries WHERE query_id <> '' LIMIT 1"))
            self._texts_have_ids = _any(database.execute("SELECT 1 FROM texts WHERE text_id <> '' LIMIT 1"))
        self._encoded = 0

    def query(self, number: int, identifier: str) -> str:
        """The id of a query by its number in the job and its own id, "" for none."""
        return self._safe(identifier) if identifier else self._made(f"q{number}", self._queries_have_ids)

    def document(self, identifier: str, row: int, position: int) -> str:
        """The id of a context by its own id, its row, and its position among the contexts of its query, from 1."""
        if identifier:
            return self._safe(identifier)
        return self._made(f"{row}" if self._row_is_text else f"{row}.{position}", self._texts_have_ids)

    @property
    def notes(self) -> dict[str, object]:
        """Notes for the manifest."""
        return {
            "query_ids": "from the file" if self._queries_have_ids else "q and the number of the query",
            "document_ids": "from the file" if self._texts_have_ids else "row of the file, and place in it",
            "ids_percent_encoded": self._encoded,
            "undo": "Decode %XX as in web addresses to have the original id.",
        }

    def _safe(self, identifier: str) -> str:
        if not _UNSAFE.search(identifier):
            return identifier
        self._encoded += 1
        return _UNSAFE.sub(_percent, identifier)

    def _made(self, identifier: str, is_mixed: bool) -> str:
        # An encoded id has a hexadecimal digit after each percent sign, so that this equals none of them.
        return f"%row-{identifier}" if is_mixed else identifier


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _any(rows: sqlite3.Cursor) -> bool:
    return rows.fetchone() is not None
