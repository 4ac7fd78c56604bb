"""A file has its own manifest or none, at whatever step an export ends."""

import json
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import export
from cfbatch_gui.core.results.exports.writing import manifest_path, old_manifest
from tests.core.results.folders import Pair, Table


@pytest.fixture
def ranked(tmp_path: Path) -> Table:
    return Table(tmp_path / "job").rank([Pair("query", f"text {row}", row / 10) for row in range(10)])


def with_old(tmp_path: Path) -> Path:
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")
    manifest_path(path).write_bytes(b"old manifest")
    return path


def test_the_old_one_has_gone_when_the_new_file_takes_its_place(tmp_path: Path, ranked: Table) -> None:
    path = with_old(tmp_path)
    beside: list[bool] = []

    def look(done: int, total: int) -> None:
        beside.append(manifest_path(path).exists())

    exported = export(ranked.folder, ranked.metadata(Kind.RANK), path, progress=look)
    assert all(beside)  # the old manifest is there until the new file is completely written
    assert json.loads(exported.manifest.read_bytes())["export"]["files"] == ["out.csv"]
    assert not list(tmp_path.glob(".*"))


def test_it_comes_back_when_the_new_file_cannot_take_its_place(
    tmp_path: Path, ranked: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = with_old(tmp_path)

    def refuse(self: Path, target: Path) -> Path:
        raise PermissionError(13, "in use", str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(ExportError):
        export(ranked.folder, ranked.metadata(Kind.RANK), path)
    assert path.read_bytes() == b"old" and manifest_path(path).read_bytes() == b"old manifest"
    assert not list(tmp_path.glob(".*"))


def test_it_stays_away_when_the_new_one_cannot_be_written(tmp_path: Path, ranked: Table) -> None:
    path = tmp_path / "out.csv"
    with old_manifest(path) as step_aside:
        manifest_path(path).write_bytes(b"old manifest")
        step_aside()
        assert not manifest_path(path).exists()
    assert not manifest_path(path).exists() and not list(tmp_path.glob(".*"))


def test_one_that_cannot_step_aside_keeps_the_old_file(
    tmp_path: Path, ranked: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = with_old(tmp_path)

    def refuse(self: Path, target: Path) -> Path:
        raise PermissionError(13, "in use", str(self))

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(ExportError, match="older file"):
        export(ranked.folder, ranked.metadata(Kind.RANK), path)
    assert path.read_bytes() == b"old" and manifest_path(path).read_bytes() == b"old manifest"
