"""Only the beginning of a large file is examined before its rows are shown; the rest is checked when it is read."""

import gzip
import random
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import EncodingUnknown, InputError
from cfbatch_gui.core.inputs import encodings, open_file
from cfbatch_gui.core.inputs.file_rows import preview, read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, ReadOptions
from cfbatch_gui.core.inputs.readers import decoded_text
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from tests.core.inputs.files import zipped
from tests.support.sentences import refuses


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings, "_PIECE", 40_000)
    monkeypatch.setattr(decoded_text, "PIECE", 16_384)
    monkeypatch.setattr(encodings, "MOST_CHECKED", 120_000)
    monkeypatch.setattr(open_file, "MOST_TRIED", 80_000)


def large(path: Path, last: str, encoding: str) -> Path:
    path.write_bytes(b"id,text\n" + b"1,cloud\n" * 30_000 + f"2,{last}\n".encode(encoding))
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.jsonl"])
def test_what_is_not_utf8_far_down_is_asked_about_and_never_changed(tmp_path: Path, name: str) -> None:
    path = large(tmp_path / name, "Müll und Öl", "cp1252")
    if name == "a.jsonl":
        path.write_bytes(b'{"text": "cloud"}\n' * 14_000 + '{"text": "Müll und Öl"}\n'.encode("cp1252"))
    source = open_source(path)
    assert len(preview(source)) == 200
    with pytest.raises(EncodingUnknown) as caught:
        list(read_rows(source))
    assert caught.value.guess == "cp1252"
    chosen = open_source(path, ReadOptions(encoding="cp1252"))
    assert "Müll und Öl" in list(read_rows(chosen))[-1].cells[-1]


def test_a_file_that_is_one_text_is_asked_about_too(tmp_path: Path) -> None:
    path = large(tmp_path / "a.txt", "Müll und Öl", "cp1252")
    with pytest.raises(EncodingUnknown):
        preview(open_source(path, ReadOptions(unit=FileFormat.WHOLE)))


def noise(rows: int) -> bytes:
    chance = random.Random(7)
    return b"id,text\n" + b"".join(b"%d,%s\n" % (row, chance.randbytes(300).hex().encode()) for row in range(rows))


@pytest.mark.parametrize("name", ["a.csv.gz", "a.zip"])
def test_of_what_is_packed_only_the_beginning_is_unpacked_before_its_rows_are_shown(tmp_path: Path, name: str) -> None:
    data = noise(5_000)
    path = tmp_path / name
    whole = gzip.compress(data, 1) if path.suffix == ".gz" else zipped(("a.csv", data))
    middle = len(whole) * 3 // 4
    path.write_bytes(whole[:middle] + bytes(4096) + whole[middle + 4096 :])  # noticed only when it is reached
    source = open_source(path)
    assert (source.columns, source.is_encoding_sure) == (("id", "text"), False)
    assert source.size == pytest.approx(len(data), rel=0.05)
    assert len(preview(source)) == 200
    with refuses(InputError, "name_is_damaged_or_protected_password"):
        list(read_rows(source))
    path.write_bytes(whole)
    assert sum(1 for _ in read_rows(open_source(path))) == 5_000
