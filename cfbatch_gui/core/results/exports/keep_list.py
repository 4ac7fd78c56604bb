"""The list of near duplicates as CSV for Excel: every text of the job, and whether it stays or goes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from cfbatch_gui.core.results.exports.base import Cell, ExportOptions, Preset, not_as_written
from cfbatch_gui.core.results.exports.delimited import Dialect
from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.core.results.vectors.near_duplicates import Duplicates
from cfbatch_gui.core.system.files import atomic_writer

COLUMNS = ("row", "id", "text", "decision", "group", "similarity", "kept_row", "kept_id")
STAY, GO = "stay", "go"
_PAGE = 2_000


def write_keep_list(path: Path, embeddings: Embeddings, found: Duplicates, *, separator: str = ",") -> int:
    """Write the list as CSV for Excel, completely or not at all, and read it back; returns the number of rows that go.

    Blocking; call it in a thread. Raises UserError.
    """
    dialect = Dialect(ExportOptions(preset=Preset.EXCEL, separator=separator))
    data = dialect.start + dialect.encode([COLUMNS]) + dialect.encode(keep_rows(embeddings, found))
    with atomic_writer(path) as stream:
        stream.write(data)
        stream.flush()
        stream.seek(0)
        if stream.read() != data:
            not_as_written(path, "the bytes read back differ from those written")
    return found.gone


def keep_rows(embeddings: Embeddings, found: Duplicates) -> Iterator[Sequence[Cell]]:
    """The rows under COLUMNS. `group` counts from 1, the largest first; a text without near duplicates has none."""
    groups = found.groups()
    group_of = {item: number for number, group in enumerate(groups, 1) for item in (group.stays, *group.goes)}
    goes = {
        item: (group.stays, similarity)
        for group in groups
        for item, similarity in zip(group.goes, group.similarities, strict=True)
    }
    kept = {text.item_no: (text.row, text.id) for text in embeddings.texts([group.stays for group in groups])}
    for start in range(0, embeddings.count, _PAGE):
        for text in embeddings.page(start, start + _PAGE):
            item = text.item_no
            if item in goes:
                stays, similarity = goes[item]
                row, identifier = kept[stays]
                yield text.row, text.id, text.text, GO, group_of[item], round(similarity, 6), row, identifier
            else:
                yield text.row, text.id, text.text, STAY, group_of.get(item), None, None, None
