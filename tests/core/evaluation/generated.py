"""Generated rankings with everything that makes measures differ, and what the program exports of them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cfbatch_gui.core.evaluation.joining import Run, read_run
from tests.core.results.folders import FAILED, Outcome, Pair, Table

Qrels = dict[str, dict[str, int]]
Rankings = dict[str, dict[str, float]]


def generated_table(seed: int, path: Path, *, queries: int = 12) -> Table:
    """A job with ties, failed contexts, documents listed twice, unjudged ones, and negative judgements.

    In every third one the texts have no ids, so that no document is listed twice.
    """
    random = np.random.default_rng(seed)
    has_ids = seed % 3 != 0
    steps = int(random.choice((2, 5, 1000)))  # few values make many ties
    pairs: list[Pair] = []
    for query in range(queries):
        names = [f"d{number}" for number in random.choice(10**4, size=int(random.integers(1, 30)))]
        labels = {name: f"{random.integers(-1, 4)}" if random.random() < 0.6 else "" for name in names}
        for place, name in enumerate(names):
            score = int(random.integers(0, steps)) / steps
            outcome: Outcome = score if random.random() < 0.9 else FAILED
            pairs.append(Pair(f"q{query}", f"{name} {place}", outcome, id=name if has_ids else "", label=labels[name]))
            if random.random() < 0.15:  # the same document once more
                outcome = int(random.integers(0, steps)) / steps
                pairs.append(
                    Pair(f"q{query}", f"{name} {place}", outcome, id=name if has_ids else "", label=labels[name])
                )
    return Table(path).rank(pairs)


def run_of_table(table: Table, name: str = "job-1") -> Run:
    return read_run(table.folder, replace(table.job(), name=name, id=name))


def exported(table: Table, folder: Path) -> tuple[Rankings, Qrels]:
    """The run and the qrels as the program writes them, read as trec_eval reads them."""
    for name, form in (("job.run", "trec"), ("job.qrels", "qrels")):
        table.export(folder / name, form)
    run: Rankings = defaultdict(dict)
    for line in (folder / "job.run").read_text("utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        assert document not in run[query]
        run[query][document] = float(score)
    for scores in run.values():  # strictly, also as trec_eval reads them
        assert (np.diff(np.array(list(scores.values()), dtype=np.float32)) < 0).all()
    qrels: Qrels = defaultdict(dict)
    for line in (folder / "job.qrels").read_text("utf-8").splitlines():
        query, _, document, grade = line.split()
        assert document not in qrels[query]
        qrels[query][document] = int(grade)
    return dict(run), dict(qrels)


def run_of(path: Path, pairs: Sequence[Pair], name: str = "job") -> Run:
    return run_of_table(Table(path / name).rank(pairs), name)


def scored(pairs: Sequence[Pair], *scores: Outcome) -> list[Pair]:
    return [replace(pair, outcome=score) for pair, score in zip(pairs, scores, strict=True)]
