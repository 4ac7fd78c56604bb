"""Four million pairs planned, against writing them to a table; and a million scores read by the program's core, as the
ranking page asks for them, against plain SQL."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from benchmarks.export_results import ranked_job
from benchmarks.limits import Figures, best_of, peak_memory, seconds
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.fingerprints import hashes_of_items
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.packing import plan
from cfbatch_gui.core.jobs.plan.preflight import examine
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.rankings import Rankings
from cfbatch_gui.core.workers_ai.catalogue import DEFAULT_MODEL

QUERIES, CONTEXTS = 50_000, 20
EACH = 2_000  # queries, and texts, of two files
TURNS = 3
_SUMMARIES = "SELECT query_no, text, count(*), max(score) FROM items JOIN queries USING(query_no) GROUP BY query_no"
_KEPT = (
    "SELECT count(*) FROM (SELECT score, rank() OVER (PARTITION BY query_no ORDER BY score DESC) AS place FROM items)"
    " WHERE place <= 5 AND score >= 0.5"
)
_ALL = (
    "SELECT query_no, text, score, rank() OVER (PARTITION BY query_no ORDER BY score DESC) FROM items"
    " JOIN texts USING(text_no) ORDER BY query_no, score DESC"
)


def main(figures: Figures) -> None:
    """Many queries with few contexts each, then one query that has all contexts."""
    with tempfile.TemporaryDirectory() as name:
        _planned(figures, Path(name))
        _many(figures, ranked_job(Path(name) / "many", QUERIES, CONTEXTS))
        folder = ranked_job(Path(name) / "one", 1, QUERIES * CONTEXTS)
        ours, plain = best_of(
            TURNS, lambda: Rankings(folder).contexts(1, 0, 10_000), lambda: _rows(folder, f"{_ALL} LIMIT 10000")
        )
        figures.versus("one query: ranked, the first 10,000 read", ours, "SELECT with rank()", plain, limit=4.0)
        figures.add("memory", peak_memory(), "MB", limit=600)


def _planned(figures: Figures, folder: Path) -> None:
    """Two files, all texts of the second for every query of the first."""
    files = [folder / "queries.csv", folder / "texts.csv"]
    for file, column in zip(files, ("query", "text"), strict=True):
        file.write_text(
            f"id,{column}\n"
            + "".join(f'{n},"A {column}, number {n}, {"of some " * (n % 20)}length"\n' for n in range(EACH))
        )
    first, second = map(open_source, files)
    mapping = suggest_mapping(first, Kind.RANK, preview(first), second, preview(second))
    job_folder, job = JobFolder(folder / "planned"), Job("bench", "bench", Kind.RANK, DEFAULT_MODEL, "practice", 0.0)
    plain = seconds(lambda: _pairs(folder / "plain.db"))
    pairs = f"{EACH**2 // 1_000_000} million pairs"
    filled = seconds(lambda: fill(job_folder, first, mapping, second))
    figures.versus(f"{pairs} read", filled, "INSERT … SELECT", plain, limit=2.0)
    figures.versus("  checked", seconds(lambda: examine(job_folder, job)), "INSERT … SELECT", plain, limit=3.0)
    figures.versus(
        "  planned when they are sent", seconds(lambda: plan(job_folder, job)), "INSERT … SELECT", plain, limit=10.0
    )
    figures.add("  held against earlier jobs", seconds(lambda: hashes_of_items(job_folder)), "s")
    figures.add("  memory until there", peak_memory(), "MB", limit=400)


def _pairs(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE items(item INTEGER PRIMARY KEY, query INTEGER, text INTEGER)")
        database.execute(
            f"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {EACH * EACH})"
            f" INSERT INTO items SELECT x, x / {EACH}, x % {EACH} FROM n"
        )


def _many(figures: Figures, folder: JobFolder) -> None:
    rankings = Rankings(folder)
    ours, plain = best_of(TURNS, lambda: Rankings(folder).queries(), lambda: _rows(folder, _SUMMARIES))
    figures.versus(f"{QUERIES:,} queries: count, best, margin, once", ours, "SELECT … GROUP BY", plain, limit=10.0)
    ours, again = best_of(TURNS, rankings.queries, lambda: _rows(folder, _SUMMARIES))
    figures.versus("  the same again", ours, "SELECT … GROUP BY", again, limit=2.0)
    queries = rankings.queries()
    figures.add("  by margin", seconds(lambda: sorted(queries, key=lambda query: query.margin or 0.0)), "s")
    figures.add("  contexts of one query", seconds(lambda: rankings.contexts(40_000)), "s")
    ours, plain = best_of(TURNS, lambda: rankings.counts(5, 0.5), lambda: _rows(folder, _KEPT))
    figures.versus("  how many the top 5 from 0.5 on are", ours, "SELECT with rank()", plain, limit=0.5)
    ours, plain = best_of(TURNS, lambda: sum(len(block) for block in rankings.blocks()), lambda: _rows(folder, _ALL))
    figures.versus("  every context, in blocks", ours, "SELECT with rank()", plain, limit=4.0)


def _rows(folder: JobFolder, select: str) -> int:
    """How many rows a SELECT has; none is kept."""
    with folder.open(read_only=True) as database:
        return sum(1 for _ in database.execute(select))
