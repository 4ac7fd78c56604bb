"""What the stand-in for Vectorize has ever accepted, for tests and other programs that compare."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from cfbatch_gui.core.practice.vectorize.changes import Kind
from cfbatch_gui.core.practice.vectorize.database import FILE_NAME, opened


@dataclass(frozen=True, slots=True)
class AcceptedEvent:
    """One line of the ledger, on disk before its answer is sent; it stays when the index is deleted.

    `ids` are those of the vectors in the order of the upload or the call, or the one property of a metadata index.
    `mutation_id` is "" for the creation and the deletion of an index. `size` and `sha256` are of the body as posted,
    framing included; `accepted_at` is in seconds of the service's clock.
    """

    account: str
    index: str
    kind: Kind
    mutation_id: str
    ids: tuple[str, ...]
    size: int
    sha256: str
    accepted_at: float
    is_applied: bool


def accepted_events(folder: Path) -> Sequence[AcceptedEvent]:
    """Every creation, change and deletion that the service of that folder has accepted, in their order."""
    if not (folder / FILE_NAME).exists():
        return ()
    with opened(folder) as database:
        rows = database.execute(
            "SELECT account, name, kind, mutation_id, ids, size, sha256, accepted_at, is_applied "
            "FROM events JOIN indexes ON indexes.key = events.index_key ORDER BY number"
        ).fetchall()
    return tuple(map(_event, rows))


def _event(row: tuple[Any, ...]) -> AcceptedEvent:
    account, index, kind, mutation_id, ids, size, sha256, accepted_at, is_applied = row
    listed = msgspec.json.decode(ids, type=tuple[str, ...])
    return AcceptedEvent(
        account, index, Kind(kind), mutation_id, listed, size, sha256, accepted_at, is_applied=bool(is_applied)
    )
