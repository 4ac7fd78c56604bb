"""Our own exports for Excel come back as they were: the apostrophes before formulas are taken away again."""

import json
from dataclasses import replace

from cfbatch_gui.core.inputs.input_values import Source

_MOST_BYTES = 4 * 1024 * 1024


def marked_columns(source: Source) -> Source:
    """The source with the columns in which apostrophes are marks; only the manifest beside the file can say so."""
    manifest = source.path.with_name(f"{source.path.name}.manifest.json")
    try:
        if not source.has_header or not manifest.is_file() or manifest.stat().st_size > _MOST_BYTES:
            return source
        content = json.loads(manifest.read_bytes())
        export = content["export"]
        found = export.get("formulas_made_harmless") or {}
        is_ours = str(content["program"]).startswith("CF Batch") and found.get("mark") == "'" and found.get("cells")
        names = {str(name) for name in found.get("columns", ())} if is_ours else set()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return source  # no manifest of ours: the file stands for itself
    marked = tuple(place for place, name in enumerate(source.columns) if name in names)
    if not marked:
        return source
    notice = "CF Batch wrote this file for Excel: the apostrophes it put before formulas are taken away again."
    return replace(source, marked=marked, notices=(*source.notices, notice))
