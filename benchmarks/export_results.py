"""Results written, against the plainest ways of writing the same bytes."""

import csv
import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import xlsxwriter
from arro3.core import Array, DataType, RecordBatch, fixed_size_list_array
from arro3.io import write_parquet
from numpy.typing import NDArray

from benchmarks.limits import Figures, apart, best_of, peak_memory, seconds
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.checksums import note_results
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.exports import export, target_for
from cfbatch_gui.core.results.exports.rows import vector_texts

QUERIES, CONTEXTS = 10_000, 20
TEXTS, DIMENSION = 50_000, 1024
TURNS = 3
MB = 1 << 20
_TEXT = "Open the sign-in page and choose “I cannot sign in”. We send a link to the address of the account, number {}."
_PLAIN = (
    "SELECT q.query_id, q.text, rank() OVER (PARTITION BY query_no ORDER BY score DESC), t.text_id, t.text, score, '',"
    " i.position, i.position, t.label, r.reference, '', r.state, r.error FROM items i JOIN queries q USING(query_no)"
    " JOIN texts t USING(text_no) JOIN requests r USING(request_no) ORDER BY query_no, score DESC"
)


def main(figures: Figures) -> None:
    """A job of each kind, written in several ways; the best of several turns each."""
    with tempfile.TemporaryDirectory() as name:
        _rankings(figures, Path(name))
        _vectors(figures, Path(name))


def _rankings(figures: Figures, path: Path) -> None:
    folder = ranked_job(path / "rank", QUERIES, CONTEXTS)
    facts = Job("id", "name", Kind.RANK, "@cf/baai/bge-m3", "practice", 0.0)
    title = f"{QUERIES * CONTEXTS:,} scores"
    ours, plain = best_of(
        TURNS, lambda: export(folder, facts, path / "ours.csv"), lambda: _plain_csv(folder, path / "plain.csv")
    )
    figures.versus(f"{title}, CSV", ours, "csv.writer over one SELECT", plain, limit=2.0)
    ours, plain = best_of(
        TURNS,
        lambda: export(folder, facts, path / "ours.parquet"),
        lambda: _plain_score_parquet(folder, path / "plain.parquet"),
    )
    figures.versus(f"{title}, Parquet", ours, "arro3 over one SELECT", plain, limit=1.6)
    ours, plain = best_of(
        1, lambda: export(folder, facts, path / "ours.xlsx"), lambda: _plain_excel(folder, path / "plain.xlsx")
    )
    figures.versus(f"{title}, XLSX", ours, "xlsxwriter over one SELECT", plain, limit=2.0)


def _vectors(figures: Figures, path: Path) -> None:
    """Every way flushes its file to the disk."""
    folder = embedded_job(path / "embed", TEXTS, DIMENSION)
    facts = Job("id", "name", Kind.EMBED, "@cf/baai/bge-m3", "practice", 0.0)
    vectors = np.load(folder.vectors)
    title = f"{TEXTS:,} vectors of {DIMENSION:,}"
    ours, plain, in_memory = best_of(
        TURNS,
        lambda: export(folder, facts, path / "vectors.npy"),
        lambda: _plain_array(folder, _loaded(folder), path / "plain.npy"),
        lambda: _plain_array(folder, vectors, path / "plain.npy"),
    )
    figures.versus(f"{title}, NPY", ours, "numpy.save of numpy.load, ids by one SELECT", plain, limit=2.0)
    figures.versus(f"{title}, NPY", ours, "numpy.save of what is in memory, ids by one SELECT", in_memory)
    ours, plain = best_of(
        TURNS,
        lambda: export(folder, facts, path / "vectors.parquet"),
        lambda: _plain_parquet(folder, _loaded(folder), path / "plain.parquet"),
    )
    figures.versus(f"{title}, Parquet", ours, "arro3, ids and texts by one SELECT", plain, limit=2.0)
    _csv_of_vectors(figures, embedded_job(path / "fewer", TEXTS // 10, DIMENSION), facts, path)
    peak = apart(export_in_turn, folder.path)
    figures.versus(
        "memory of a process that exports all", peak, "the vectors", vectors.nbytes / MB, unit="MB", limit=1.5
    )


def _csv_of_vectors(figures: Figures, folder: JobFolder, facts: Job, path: Path) -> None:
    vectors = np.load(folder.vectors)
    some = vectors[: len(vectors) // 5]
    figures.add("shortest decimals", seconds(lambda: vector_texts(vectors)) / vectors.size * 1e9, "ns/number")
    ours = seconds(lambda: export(folder, facts, path / "vectors.csv"))
    plain: dict[str, Callable[[], object]] = {
        "numpy.savetxt('%.9g')": lambda: np.savetxt(path / "plain.csv", some, fmt="%.9g", delimiter=","),
        "join of '%.9g'": lambda: _joined(some, path / "plain.csv"),
        "csv.writer of widened doubles": lambda: _repr(some, path / "plain.csv"),
        "csv.writer of str(float32)": lambda: _exact(some, path / "plain.csv"),
    }
    for name, work in plain.items():  # of a fifth of the vectors, five times: the plain ways are slow
        limit = 1.0 if "savetxt" in name else None
        figures.versus(f"{len(vectors):,} vectors, CSV", ours, name, 5 * seconds(work), limit=limit)


def export_in_turn(path: Path) -> float:
    """Export the job of vectors in that folder as an array, as Parquet and with its map; the most memory, in MB."""
    facts = Job("id", "name", Kind.EMBED, "@cf/baai/bge-m3", "practice", 0.0)
    for suffix in ("npy", "parquet", "atlas.parquet"):
        out = path.with_name(f"memory.{suffix}")
        export(JobFolder(path), facts, out, target_for(out, Kind.EMBED, "atlas" if "atlas" in suffix else ""))
    return peak_memory()


def _plain_csv(folder: JobFolder, path: Path) -> None:
    with folder.open(read_only=True) as database, path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(database.execute(_PLAIN))


def _plain_score_parquet(folder: JobFolder, path: Path) -> None:
    with folder.open(read_only=True) as database:
        columns = [list(column) for column in zip(*database.execute(_PLAIN), strict=True)]
    types = ["utf8", "utf8", "int64", "utf8", "utf8", "float64", "utf8", "int64", "int64", *["utf8"] * 5]
    arrays = [Array(column, getattr(DataType, name)()) for column, name in zip(columns, types, strict=True)]
    _save_parquet(RecordBatch({f"column {index}": array for index, array in enumerate(arrays)}), path)


def _plain_parquet(folder: JobFolder, vectors: NDArray[np.float32], path: Path) -> None:
    with folder.open(read_only=True) as database:
        rows = database.execute("SELECT text_id, text FROM items JOIN texts USING(text_no) ORDER BY item_no").fetchall()
    ids, texts = (Array(list(column), DataType.utf8()) for column in zip(*rows, strict=True))
    numbers = fixed_size_list_array(Array.from_numpy(vectors.reshape(-1)), vectors.shape[1])
    _save_parquet(RecordBatch({"id": ids, "text": texts, "vector": numbers}), path)


def _save_parquet(batch: RecordBatch, path: Path) -> None:
    with path.open("wb") as file:
        write_parquet(batch, file)
        file.flush()
        os.fsync(file.fileno())


def _loaded(folder: JobFolder) -> NDArray[np.float32]:
    """The job's own file, which our export begins with as well."""
    vectors: NDArray[np.float32] = np.load(folder.vectors)
    return vectors


def _plain_array(folder: JobFolder, vectors: NDArray[np.float32], path: Path) -> None:
    """Two files, as our export has them: the vectors, and their ids."""
    with folder.open(read_only=True) as database:
        ids = database.execute("SELECT text_id FROM items JOIN texts USING(text_no) ORDER BY item_no").fetchall()
    with path.open("wb") as file, path.with_suffix(".ids.txt").open("wb") as ids_file:
        np.save(file, vectors)
        ids_file.write("\n".join([identifier for (identifier,) in ids]).encode())
        for each in (file, ids_file):
            each.flush()
            os.fsync(each.fileno())


def _plain_excel(folder: JobFolder, path: Path) -> None:
    with folder.open(read_only=True) as database, xlsxwriter.Workbook(path, {"constant_memory": True}) as workbook:
        sheet = workbook.add_worksheet()
        for number, row in enumerate(database.execute(_PLAIN)):
            sheet.write_row(number, 0, row)


def _joined(vectors: NDArray[np.float32], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in vectors.tolist():
            file.write(",".join([f"{number:.9g}" for number in row]) + "\n")


def _repr(vectors: NDArray[np.float32], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(vectors.tolist())


def _exact(vectors: NDArray[np.float32], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([str(number) for number in row] for row in vectors)


def ranked_job(path: Path, queries: int, contexts: int) -> JobFolder:
    """A finished job with so many contexts for each query, and scores of half precision."""
    scores = np.random.default_rng(1).random(queries * contexts).astype(np.float16).tolist()
    folder = _folder(path)
    with closing(sqlite3.connect(folder.data)) as database, database:
        numbers = range(1, queries * contexts + 1)
        _requests(database, queries)
        database.executemany(
            "INSERT INTO queries VALUES(?, ?, ?, ?)", ((n, f"q{n}", f"question {n}", n) for n in range(1, queries + 1))
        )
        _texts(database, numbers)
        database.executemany(
            "INSERT INTO items VALUES(?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    n,
                    (n - 1) // contexts + 1,
                    n,
                    (n - 1) % contexts + 1,
                    (n - 1) // contexts + 1,
                    (n - 1) % contexts,
                    score,
                )
                for n, score in zip(numbers, scores, strict=True)
            ),
        )
        note_results(database, 1)
    return folder


def embedded_job(path: Path, texts: int, dimension: int) -> JobFolder:
    """A finished job with random unit vectors."""
    vectors = np.random.default_rng(1).standard_normal((texts, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    folder = _folder(path)
    np.save(folder.vectors, vectors)
    with closing(sqlite3.connect(folder.data)) as database, database:
        schema.put_metadata_value(database, "dimension", dimension)
        _requests(database, texts // 100)
        _texts(database, range(1, texts + 1))
        database.executemany(
            "INSERT INTO items VALUES(?, NULL, ?, 1, ?, ?, NULL)",
            ((n, n, (n - 1) // 100 + 1, (n - 1) % 100) for n in range(1, texts + 1)),
        )
        note_results(database, 1, vectors)
    return folder


def _folder(path: Path) -> JobFolder:
    folder = JobFolder(path)
    folder.create()
    schema.create(folder.data)
    return folder


def _requests(database: sqlite3.Connection, count: int) -> None:
    database.executemany(
        "INSERT INTO requests VALUES(?, ?, 1, ?, 'done', '')", ((n, f"job-{n}", n) for n in range(1, count + 1))
    )


def _texts(database: sqlite3.Connection, numbers: range) -> None:
    database.executemany(
        "INSERT INTO texts VALUES(?, ?, ?, '', 1, ?)", ((n, f"d{n}", _TEXT.format(n), n + 1) for n in numbers)
    )
