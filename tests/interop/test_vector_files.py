"""Exported vectors read by other programs and compared value by value, float32 bit for bit."""

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.results.exports import Exported, ExportOptions
from tests.core.results.folders import Table
from tests.interop.conftest import DIMENSION, IDS, TEXTS, THERE, vectors_of

EXPECTED = vectors_of(len(TEXTS))[THERE]
COLUMNS = {"id": IDS, "text": [TEXTS[place] for place in THERE], "$note": [f"note {TEXTS[place]}" for place in THERE]}


def written(table: Table, path: Path, form: str) -> Exported:
    return table.export(path, form)


@pytest.mark.interop
def test_parquet_in_pyarrow(embedded: Table, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    written(embedded, tmp_path / "out.parquet", "parquet")
    found = parquet.read_table(tmp_path / "out.parquet")
    assert found.schema.field("vector").type == pyarrow.list_(pyarrow.float32(), DIMENSION)
    assert found.column_names == ["id", "text", 'a.b "c"', "$note", "vector"]
    for name, cells in COLUMNS.items():
        assert found[name].to_pylist() == cells
    numbers = found["vector"].combine_chunks().flatten().to_numpy()
    assert numbers.tobytes() == EXPECTED.tobytes()


@pytest.mark.interop
def test_neighbours_in_pandas_and_duckdb(embedded: Table, tmp_path: Path) -> None:
    pandas, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    path = tmp_path / "out.atlas.parquet"
    exported = written(embedded, path, "atlas")
    assert "--neighbors neighbors" in exported.next_command
    frame = pandas.read_parquet(path)  # as Embedding Atlas reads the file; it then numbers the rows from 0
    frame["__row_index__"] = range(len(frame))
    nearest = frame["neighbors"]
    unit = EXPECTED.astype(np.float64)
    with np.errstate(all="ignore"):
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    for row in range(2, len(THERE)):
        ids, distances = nearest[row]["ids"], nearest[row]["distances"]
        if len(ids):
            assert row not in ids
            assert np.allclose(distances, 1 - unit[ids] @ unit[row], atol=1e-5)
    # Then the queries that its window makes.
    duckdb.register("texts", frame)
    found = duckdb.sql("SELECT neighbors FROM texts WHERE __row_index__ = 3").fetchall()
    assert found[0][0]["ids"] == nearest[3]["ids"].tolist()


@pytest.mark.interop
def test_parquet_in_lancedb(embedded: Table, tmp_path: Path) -> None:
    lancedb = pytest.importorskip("lancedb")
    parquet = pytest.importorskip("pyarrow.parquet")
    written(embedded, tmp_path / "out.parquet", "parquet")
    data = parquet.read_table(tmp_path / "out.parquet").drop_columns(['a.b "c"'])  # it does not accept dots in names
    data = data.slice(1)  # the first vector holds the largest float32, whose distance overflows
    table = lancedb.connect(tmp_path / "lance").create_table("texts", data)
    found = table.search(EXPECTED[4]).limit(1).to_list()[0]  # the vector column is found by its type
    assert found["id"] == IDS[4]
    assert np.array(found["vector"], dtype=np.float32).tobytes() == EXPECTED[4].tobytes()
    stored = table.to_arrow()["vector"].combine_chunks().flatten().to_numpy()
    assert stored.tobytes() == EXPECTED[1:].tobytes()


@pytest.mark.interop
def test_a_collection_in_llm(embedded: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    llm = pytest.importorskip("llm")
    sqlite_utils = pytest.importorskip("sqlite_utils")
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    exported = written(embedded, tmp_path / "out.db", "llm")
    database = sqlite_utils.Database(tmp_path / "out.db")
    assert list(database["collections"].rows) == [
        {"id": 1, "name": "support-articles-march", "model": "@cf/baai/bge-m3"}
    ]
    before = _schema(tmp_path / "out.db")
    collection = llm.Collection("support-articles-march", database, create=False)  # would migrate an older schema
    assert _schema(tmp_path / "out.db") == before
    assert _schema_of_llm(tmp_path / "own.db") == before
    assert collection.count() == len(THERE)
    for place, row in enumerate(database["embeddings"].rows):
        assert (row["id"], row["content"]) == (IDS[place], COLUMNS["text"][place])
        assert np.array(llm.decode(row["embedding"]), dtype=np.float32).tobytes() == EXPECTED[place].tobytes()
        assert row["content_hash"] == llm.Collection.content_hash(row["content"])
        assert json.loads(row["metadata"])["$note"] == COLUMNS["$note"][place]
    likest = collection.similar_by_vector(EXPECTED[3].tolist(), number=1)[0]
    assert (likest.id, likest.content) == (IDS[3], COLUMNS["text"][3])
    assert exported.next_command.startswith("llm similar support-articles-march ")
    ran = subprocess.run(
        [sys.executable, "-m", *exported.next_command.split(" ")[:3], IDS[1], "-d", str(tmp_path / "out.db")],
        capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert IDS[2] in {json.loads(line)["id"] for line in ran.stdout.splitlines()}
    database.close()


def _schema(path: Path) -> list[tuple[str, str]]:
    database = sqlite3.connect(path)
    try:
        rows = database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
        return [(name, "".join(sql.split())) for name, sql in rows]
    finally:
        database.close()


def _schema_of_llm(path: Path) -> list[tuple[str, str]]:
    sqlite_utils = pytest.importorskip("sqlite_utils")
    database = sqlite_utils.Database(path)
    pytest.importorskip("llm.embeddings_migrations").embeddings_migrations.apply(database)
    database.close()
    return _schema(path)


def test_the_projectors_rules(embedded: Table, tmp_path: Path) -> None:
    written(embedded, tmp_path / "out", "projector")
    config = json.loads((tmp_path / "out" / "projector_config.json").read_text("utf-8"))["embeddings"][0]
    points = _projector_vectors((tmp_path / "out" / config["tensorPath"]).read_text("utf-8"))
    names, metadata = _projector_metadata((tmp_path / "out" / config["metadataPath"]).read_text("utf-8"))
    assert config["tensorShape"] == [len(points), DIMENSION] == [len(metadata), DIMENSION]
    assert np.array(points, dtype=np.float64).astype(np.float32).tobytes() == EXPECTED.tobytes()
    assert names == ["id", "text", 'a.b "c"', "$note"]
    assert [row["id"] for row in metadata] == IDS
    plain = str.maketrans("\t\r\n", "   ")
    assert [row["text"] for row in metadata] == [text.translate(plain) for text in COLUMNS["text"]]


def _projector_vectors(content: str) -> list[list[float]]:
    """Parse as the projector does: split at \\n, trim, skip blank lines; a first cell that is no number is a label."""
    points: list[list[float]] = []
    assert content.endswith("\n")  # without it, the projector's reader does not terminate
    for line in content.split("\n"):
        if line.strip():
            cells = line.strip().split("\t")
            points.append([float(cell) for cell in cells])
            assert len(points[-1]) == len(points[0]) > 1
    return points


def _projector_metadata(content: str) -> tuple[list[str], list[dict[str, str]]]:
    """Parse as the projector does: a tab in the first line makes it the header; missing cells are undefined."""
    names, rows = ["label"], []
    has_header = "\t" in content.split("\n", maxsplit=1)[0]
    for number, line in enumerate(line for line in content.split("\n") if line.strip("\ufeff \t\r\v\f\u00a0")):
        if number == 0 and has_header:
            names = line.split("\t")
        else:
            rows.append(dict(zip(names, line.split("\t"), strict=True)))
    return names, rows


def test_vectorizes_limits(embedded: Table, tmp_path: Path) -> None:
    exported = written(embedded, tmp_path / "out", "vectorize")
    lines = [json.loads(line) for file in exported.files for line in file.read_text("utf-8").splitlines()]
    assert [line["id"] for line in lines] == IDS
    assert np.array([line["values"] for line in lines]).astype(np.float32).tobytes() == EXPECTED.tobytes()
    assert [line["metadata"]["text"] for line in lines] == COLUMNS["text"]
    for line in lines:
        assert len(line["id"].encode()) <= 64
        assert len(json.dumps(line["metadata"], ensure_ascii=False, separators=(",", ":")).encode()) <= 10_240
        assert set(line["metadata"]) == {"text", "a_b 'c'", "note"}
        assert None not in line["metadata"].values()
    create, upsert = exported.next_command.split("\n")
    assert create == "wrangler vectorize create support-articles-march --dimensions=32 --metric=cosine"
    assert upsert.startswith("wrangler vectorize upsert support-articles-march --file=")


def test_openais_lines(embedded: Table, tmp_path: Path) -> None:
    written(embedded, tmp_path / "out.jsonl", "openai")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert [line["custom_id"] for line in lines] == IDS
    assert {line["response"]["status_code"] for line in lines} == {200}
    data = [line["response"]["body"]["data"] for line in lines]
    numbers = np.array([entry[0]["embedding"] for entry in data]).astype(np.float32)
    assert numbers.tobytes() == EXPECTED.tobytes()


@pytest.mark.interop
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
def test_excel_in_libreoffice(embedded: Table, tmp_path: Path) -> None:
    from tests.interop.libreoffice import as_csv

    embedded.export(tmp_path / "out.xlsx", options=ExportOptions(has_numbers=True))
    rows = as_csv(tmp_path / "out.xlsx", tmp_path / "office")[1:]
    assert [row[0] for row in rows] == IDS
    numbers = np.array([row[4:] for row in rows]).astype(np.float32)
    assert np.array_equal(numbers, EXPECTED)  # it has no negative zero, which compares equal to zero
    assert numbers[1:].tobytes() == EXPECTED[1:].tobytes()
