"""A file as the program suggests to read it, for tests that do not look at how it is read."""

from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Mapping, Source, Split
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping


def as_suggested(
    path: Path, kind: Kind, second: Path | None = None, *, split: Split | None = None
) -> tuple[Source, Mapping, Source | None]:
    """What `Drafts.load`, `fill` and `AttachedInput` take: the file, its columns, and the second file, if any."""
    source, other = open_source(path), open_source(second) if second else None
    mapping = suggest_mapping(source, kind, preview(source), other, preview(other) if other else ())
    return source, replace(mapping, split=split), other
