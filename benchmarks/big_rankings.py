"""A million scores as the ranking page asks for them: opening, sorting, counting, finding."""

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.export_results import ranked_job
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.rankings.rankings import Rankings
from cfbatch_gui.core.results.rankings.text_search import TextSearch

QUERIES, CONTEXTS = 50_000, 20


def main() -> None:
    """Print milliseconds, and the most memory that was resident."""
    with tempfile.TemporaryDirectory() as name:
        folder = ranked_job(Path(name) / "many", QUERIES, CONTEXTS)
        before = _memory()
        print(f"{QUERIES * CONTEXTS:,} scores of {QUERIES:,} queries")
        _many(folder)
        folder = ranked_job(Path(name) / "one", 1, QUERIES * CONTEXTS)
        rankings = Rankings(folder)
        print(f"{QUERIES * CONTEXTS:,} scores of one query")
        _print("ranked, the first 10,000 read", lambda: rankings.contexts(1, 0, 10_000))
        print(f"memory {_memory():,.0f} MB at most, {before:,.0f} MB of it before")


def _many(folder: JobFolder) -> None:
    rankings = Rankings(folder)
    _print("all queries with count, best and margin (once)", rankings.queries)
    _print("the same again", rankings.queries)
    queries = rankings.queries()
    _print("queries by margin", lambda: sorted(queries, key=lambda query: query.margin or 0.0))
    _print("contexts of a query", lambda: rankings.contexts(40_000))
    _print("top 5 from 0.5 on: how many", lambda: rankings.counts(5, 0.5))
    search = TextSearch(folder)
    _print("making ready to find", search.prepare)
    _print("find what no text has", lambda: search.queries("absent"))
    _print("find what few texts have", lambda: search.queries("number 77777"))
    _print("find what half of all texts have", lambda: search.queries("7"))
    _print("find letters beyond ASCII", lambda: search.queries("été"))
    _print("every context, in blocks", lambda: sum(len(block) for block in rankings.blocks()))


def _print(what: str, work: Callable[[], object]) -> None:
    start = time.perf_counter()
    work()
    print(f"{what:<50}{(time.perf_counter() - start) * 1000:8,.0f} ms")


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
