"""The apostrophes that this program's export puts before cells that look like formulas: found, and removed again."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from cfbatch_gui.core.inputs.input_values import Row, Source
from cfbatch_gui.core.messages import message

_MOST_MANIFEST_BYTES = 4 * 1024 * 1024
_MARKED = re.compile(r"'+[=+\-@\t\r]")


def marked_columns(source: Source) -> Source:
    """Return the source with `marked` set, according to its manifest, to the columns with added apostrophes."""
    manifest = source.path.with_name(f"{source.path.name}.manifest.json")
    try:
        if not source.has_header or not manifest.is_file() or manifest.stat().st_size > _MOST_MANIFEST_BYTES:
            return source
        content = json.loads(manifest.read_bytes())
        export = content["export"].get(source.path.name) or content["export"]  # one of several files, or the only one
        found = export.get("formulas_made_harmless") or {}
        is_ours = str(content["program"]).startswith("CF Batch") and found.get("mark") == "'" and found.get("cells")
        names = {str(name) for name in found.get("columns", ())} if is_ours else set()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return source  # not a manifest of CF Batch
    marked = tuple(index for index, name in enumerate(source.columns) if name in names)
    if not marked:
        return source
    notice = message("CF Batch wrote this file for Excel: the apostrophes it put before formulas are taken away again.")
    return replace(source, marked=marked, notices=(*source.notices, notice))


def unmarked(rows: Iterator[Row], columns: frozenset[int]) -> Iterator[Row]:
    """Remove the apostrophes before cells that look like formulas in these columns."""
    for row in rows:
        if any(cell.startswith("'") for cell in row.cells):
            cells = [
                cell[1:] if index in columns and _MARKED.match(cell) else cell for index, cell in enumerate(row.cells)
            ]
            yield Row(row.number, tuple(cells), row.problem, row.problem_kind, row.raw)
        else:
            yield row
