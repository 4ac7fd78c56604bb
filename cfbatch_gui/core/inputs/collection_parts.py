"""Corpus, queries, candidates and judgements in files of their own: which file is which."""

import re
from dataclasses import dataclass
from pathlib import Path

from cfbatch_gui.core.inputs.opening import open_bytes

PAIR_COLUMNS = ("query_id", "query", "doc_id", "text", "initial_rank", "label")
_SUFFIXES = (".jsonl", ".ndjson", ".json", ".tsv", ".csv", ".parquet", ".txt", ".gz")
_CORPUS = ("corpus", "documents", "docs", "collection")
_QUERIES = ("queries", "topics", "questions")
_RUNS = ("top_ranked", "bm25", "run", "candidates")
_SPLITS = ("test", "dev", "validation", "val", "train")
_RUN_LINE = re.compile(r"\s*\S+\s+Q0\s+\S+\s+\d+\s+[-+.\deE]+\s+\S.*", re.IGNORECASE)
_JUDGEMENT_LINE = re.compile(r"\S+[ \t]+(?:0|Q0)[ \t]+\S+[ \t]+-?\d")


@dataclass(frozen=True, slots=True)
class Parts:
    """The files of a collection; None for those that are not there."""

    corpus: Path
    queries: Path
    run: Path | None
    judgements: Path | None


def is_run(sample: str) -> bool:
    """Whether a text is a TREC run: lines of `qid Q0 docno rank sim tag`."""
    lines = [line for line in sample.split("\n")[:20] if line.strip()][:10]
    whole = lines[:-1] if len(lines) > 1 else lines
    return bool(whole) and all(_RUN_LINE.fullmatch(line.rstrip("\r")) for line in whole)


def are_judgements(sample: str) -> bool:
    """Whether a text is TREC qrels: lines of `qid iter docno rel`, at least three of them."""
    lines = [line.rstrip("\r") for line in sample.split("\n")[:40] if line.strip()][:20]
    return len(lines) >= 3 and all(_JUDGEMENT_LINE.fullmatch(line) for line in lines[:-1])


def parts_of(path: Path) -> Parts | None:
    """The parts of a collection in a folder, or beside a TREC run; None when there is no corpus with queries."""
    folder = path if path.is_dir() else path.parent
    corpus, queries = _part(folder, _CORPUS), _part(folder, _QUERIES)
    if corpus is None or queries is None:
        return None
    run = _part(folder, _RUNS) or _any_run(folder) if path.is_dir() else path
    return Parts(corpus, queries, run, _part(folder, ("qrels", "judgements", "judgments")))


def collection_notices(parts: Parts) -> tuple[str, ...]:
    """What was found, in sentences."""
    said = f"Corpus: {parts.corpus.name}. Queries: {parts.queries.name}."
    run = (
        f" The candidates of each query come from {parts.run.name}."
        if parts.run
        else f" No file names candidates, so the judged documents of {parts.judgements.name} are ranked."
        if parts.judgements
        else ""
    )
    labels = f" Labels come from {parts.judgements.name}." if parts.judgements else ""
    return (said + run + labels,)


def _part(folder: Path, names: tuple[str, ...]) -> Path | None:
    for name in names:
        for suffix in _SUFFIXES:
            for path in (folder / f"{name}{suffix}", folder / f"{name}{suffix}.gz"):
                if path.is_file():
                    return path
        inner = folder / name
        if inner.is_dir():
            return _best_split([path for path in sorted(inner.iterdir()) if path.suffix in _SUFFIXES])
    return None


def _best_split(files: list[Path]) -> Path | None:
    for split in _SPLITS:
        for path in files:
            if path.name.startswith(split):
                return path
    return files[0] if files else None


def _any_run(folder: Path) -> Path | None:
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in (".trec", ".run", ".txt", ".res") and path.is_file():
            with open_bytes(path) as file:
                if is_run(file.read(8192).decode("utf-8", "ignore")):
                    return path
    return None
