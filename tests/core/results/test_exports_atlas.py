"""The file for Embedding Atlas: coordinates on the map and nearest neighbours, read by another Parquet library."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports import Exported, parquet
from cfbatch_gui.core.results.nearest import nearest
from cfbatch_gui.core.results.text_map import make_map, tsne_map
from tests.core.results.folders import FAILED, WAITING, Outcome, Table, unit_vectors

arro3_io = pytest.importorskip("arro3.io")
MANY = 4_200  # more than one block, and than one chunk that a block is compared with


def written(table: Table, path: Path) -> tuple[Exported, list[dict[str, Any]]]:
    exported = table.export(path, "atlas")
    found = arro3_io.read_parquet(str(path)).read_all()
    columns = [found[name].to_pylist() for name in found.schema.names]
    return exported, [dict(zip(found.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]


def embedded(path: Path, outcomes: Sequence[Outcome], vectors: Any) -> Table:
    return Table(path).embed([(f"k{index}", f"text {index}", each) for index, each in enumerate(outcomes)], vectors)


def test_neighbours_are_those_of_each_text_alone_by_row_of_the_file(tmp_path: Path) -> None:
    outcomes: list[Outcome] = [1.0] * MANY
    outcomes[3], outcomes[2_000] = FAILED, WAITING
    vectors = unit_vectors(MANY, 8) * np.linspace(0.5, 2, MANY, dtype=np.float32)[:, None]
    vectors[7], vectors[9] = 0, vectors[8]
    table = embedded(tmp_path / "job", outcomes, vectors)
    exported, rows = written(table, tmp_path / "out.parquet")
    assert exported.rows == len(rows) == MANY - 2
    assert exported.next_command.endswith(" --x projection_x --y projection_y --neighbors neighbors --text text")
    embeddings = Embeddings(table.folder)
    for row in (0, 1, 2, 3, 1_023, 1_024, 1_998, 1_999, 4_095, 4_096, MANY - 3):
        expected = nearest(embeddings, int(rows[row]["id"][1:]) + 1, 15)
        found = rows[row]["neighbors"]
        assert [rows[other]["id"] for other in found["ids"]] == [each.text.id for each in expected]
        cosines = 1 - np.array([each.similarity for each in expected])
        assert np.allclose(found["distances"], cosines, atol=1e-6)
        assert found["distances"] == sorted(found["distances"])
        assert row not in found["ids"]


def test_a_text_without_a_direction_has_no_neighbours_and_no_place(tmp_path: Path) -> None:
    vectors = unit_vectors(5, 4)
    vectors[1] = 0
    vectors[3] = vectors[2]
    _, rows = written(embedded(tmp_path / "job", [1.0] * 5, vectors), tmp_path / "out.parquet")
    # Embedding Atlas does not accept null for the neighbours, but an empty list.
    assert rows[1]["neighbors"] == {"ids": [], "distances": []}
    assert rows[1]["projection_x"] is None
    assert all(1 not in row["neighbors"]["ids"] and len(row["neighbors"]["ids"]) == 3 for row in rows if row != rows[1])
    assert rows[2]["neighbors"]["ids"][0] == 3
    assert rows[2]["neighbors"]["distances"][0] == pytest.approx(0, abs=1e-6)


def test_many_texts_are_written_without_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MOST_TEXTS", 4)
    table = embedded(tmp_path / "job", [1.0] * 5, unit_vectors(5, 4))
    exported, rows = written(table, tmp_path / "out.parquet")
    assert list(rows[0])[-3:] == ["vector", "projection_x", "projection_y"]
    assert exported.next_command.endswith(" --x projection_x --y projection_y --text text")
    assert "more than 4 texts" in exported.manifest.read_text("utf-8")


def test_the_map_is_the_one_that_is_kept_with_the_job(tmp_path: Path) -> None:
    table = embedded(tmp_path / "job", [1.0] * 40, unit_vectors(40, 16))
    exported, rows = written(table, tmp_path / "before.parquet")
    assert indices(rows) == make_map(Embeddings(table.folder)).points.tolist()
    assert "by direction (PCA)" in said(exported)
    made = tsne_map(table.folder, Embeddings(table.folder))
    exported, rows = written(table, tmp_path / "after.parquet")
    assert indices(rows) == made.points.tolist()
    assert "by neighbours (t-SNE)" in said(exported)


def indices(rows: Sequence[dict[str, Any]]) -> list[list[float]]:
    return [[row["projection_x"], row["projection_y"]] for row in rows]


def said(exported: Exported) -> str:
    """The projection as the manifest describes it."""
    projection: str = json.loads(exported.manifest.read_text("utf-8"))["export"]["projection"]
    return projection
