"""Runs to be compared, from job folders in the form in which the runner leaves them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.evaluation.runs import Run, read_run
from tests.core.results.folders import Outcome, Pair, Table


def run_of(path: Path, pairs: Sequence[Pair], name: str = "job") -> Run:
    table = Table(path / name).rank(pairs)
    return read_run(table.folder, replace(table.metadata(), name=name, id=name))


def scored(pairs: Sequence[Pair], *scores: Outcome) -> list[Pair]:
    return [replace(pair, outcome=score) for pair, score in zip(pairs, scores, strict=True)]
