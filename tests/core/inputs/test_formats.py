"""The table of formats: a new format needs one entry and nothing else."""

from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.file_rows import preview, read_blocks
from cfbatch_gui.core.inputs.input_values import Block, Candidate, FileFormat, Row, Source
from cfbatch_gui.core.inputs.readers.formats import (
    FORMATS,
    Format,
    explain,
    is_read_by_bytes,
    listed_formats,
    suffixes_by_group,
)
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.messages import message


def _recognise(candidate: Candidate) -> Source | None:
    is_of_format = candidate.suffix == ".properties" and "=" in candidate.text
    return Source(candidate.path, "properties", ("key", "text"), candidate.size) if is_of_format else None


def _read(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    for number, line in enumerate(source.path.read_text().splitlines(), 1):
        key, _, value = line.partition("=")
        yield Row(number, (key.strip(), value.strip()))


def test_an_entry_is_all_that_a_format_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Format(
        name="properties",
        words=message("Properties"),
        listed="properties",
        group="Texts and documents",
        suffixes=(".properties",),
        recognise_text=_recognise,
        read=_read,
    )
    monkeypatch.setitem(FORMATS, entry.name, entry)
    path = tmp_path / "greetings.properties"
    path.write_text("hello = Good morning\nbye = See you\n")
    source = open_source(path)
    assert (source.format, source.columns, explain(source)) == ("properties", ("key", "text"), "Properties.")
    assert preview(source) == (Row(1, ("hello", "Good morning")), Row(2, ("bye", "See you")))
    assert list(read_blocks(source)) == [Block([1, 2], [("hello", "Good morning"), ("bye", "See you")])]
    assert is_read_by_bytes(source)
    assert "properties" in listed_formats()
    assert ".properties" in suffixes_by_group()["Texts and documents"]


def test_every_stored_name_has_its_entry() -> None:
    stored = {"xlsx", "sheet", "parquet", "docx", *FileFormat}
    assert set(FORMATS) == stored
    assert all(name == each.name for name, each in FORMATS.items())


def test_no_two_formats_claim_a_suffix() -> None:
    claimed = Counter(suffix for each in FORMATS.values() for suffix in each.all_suffixes)
    assert set(claimed.values()) == {1}
