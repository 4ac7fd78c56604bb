"""`cfbatch compare --fail-if-worse`: a status for worse, for what cannot be told, and for too few judgements."""

import argparse
import csv
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import pytest

from cfbatch_gui.cli.command_line import run_command_line
from cfbatch_gui.cli.compare import read_limit
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.judgements.book import Shelf
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from cfbatch_gui.core.system.paths import Paths
from tests.core.results.folders import Pair, Table

TEXTS = 4


def ranked(good: Sequence[bool], *, labelled: bool = True) -> list[Pair]:
    """For each query four texts, of which one is relevant; it is first where the query is good, else last."""
    return [
        Pair(
            f"query {query}", f"text {query}.{text}", score(text, first), label=str(int(text == 2)) if labelled else ""
        )
        for query, first in enumerate(good)
        for text in range(TEXTS)
    ]


def score(text: int, first: bool) -> float:
    return (1.0 if first else 0.0) if text == 2 else 0.5 - text / 100


def save(paths: Paths, name: str, pairs: list[Pair]) -> None:
    Table(paths.job(name)).rank(pairs)
    queries = len({pair.query for pair in pairs})
    job = Job(name, name, Kind.RANK, "@cf/baai/bge-m3", "practice", 1.0, is_sent=True, texts=len(pairs))
    with closing(Ledger.open(paths)) as ledger:
        ledger.put(job, [Batch(name, 1, BatchState.DONE, queries, len(pairs), 1000)])


def compare(paths: Paths, *more: str) -> int:
    return run_command_line(["compare", "old", "new", *more, "--data-dir", str(paths.root)])


@pytest.mark.parametrize(
    ("new", "status", "says"),
    [
        ([True] * 12, 0, "within the 0.02 that is allowed"),
        ([True] * 3 + [False] * 9, 6, "worse by more than the 0.02 that is allowed"),
        ([True] * 11 + [False], 7, "but that may be chance"),
    ],
)
def test_the_status_says_whether_it_is_worse(
    new: list[bool], status: int, says: str, paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    save(paths, "old", ranked([True] * 12))
    save(paths, "new", ranked(new))
    assert compare(paths, "--fail-if-worse", "nDCG@10:0.02") == status
    assert says in capsys.readouterr().err


def test_with_too_few_judged_nothing_is_told(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [replace(pair, label=pair.label if ".2" in pair.text else "") for pair in ranked([True] * 12)]
    save(paths, "old", pairs)
    save(paths, "new", pairs)
    assert compare(paths, "--fail-if-worse", "RR:0.1") == 8
    assert "only 25% are judged; 80% are needed" in capsys.readouterr().err
    save(paths, "plain", ranked([True] * 12, labelled=False))
    assert run_command_line(["compare", "plain", "plain", "--data-dir", str(paths.root)]) == 2


def test_a_book_judges_what_has_no_labels(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    save(paths, "old", ranked([True] * 12, labelled=False))
    save(paths, "new", ranked([False] * 12, labelled=False))
    assert compare(paths, "--fail-if-worse", "nDCG@10:0.02") == 8
    with closing(Shelf(paths.judgements)) as shelf:
        shelf.book_or_new("Support, 2026").add(
            [
                Judgement(Subject("", pair.query), Subject("", pair.text), int(pair.label), "me", Source.PERSON, 1.0)
                for pair in ranked([True] * 12)
            ]
        )
    assert compare(paths, "--fail-if-worse", "nDCG@10:0.02", "--judgements", "support, 2026") == 6
    capsys.readouterr()
    assert compare(paths, "--judgements", "Support, 2026", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["judgements"], found["metrics"]["queries"]) == ("Support, 2026", 12)
    assert len(found["answers"][0]["by_query"]) == 12
    table = paths.root / "queries.csv"
    assert compare(paths, "--judgements", "Support, 2026", "--queries", str(table)) == 0
    with table.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["nDCG@10_1"], row["RR_2"]) for row in rows] == [("1.0", "0.25")] * 12
    capsys.readouterr()
    assert compare(paths, "--judgements", "another") == 2
    assert "There is no book of judgements “another”. There are: “Support, 2026”." in capsys.readouterr().err
    assert run_command_line(["show", "old", "--judgements", "Support, 2026", "--data-dir", str(paths.root)]) == 0
    assert "by the book “Support, 2026” and the labels: means of 12 judged queries" in capsys.readouterr().out


def test_a_limit_has_a_measure_and_a_number() -> None:
    assert (read_limit("nDCG@5:0.02").metric, read_limit("nDCG@5:0.02").k) == ("nDCG@5", 5)
    assert (read_limit("AP:0,1").k, read_limit("AP:0,1").by) == (None, 0.1)
    for wrong in ("nDCG@10", "nDCG@10:2", "nDCG@0:0.1", ":0.1", "RR:-0.1", "RR:x"):
        with pytest.raises(argparse.ArgumentTypeError):
            read_limit(wrong)


def test_an_unknown_measure_and_another_cut_off_are_refused(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    save(paths, "old", ranked([True] * 6))
    save(paths, "new", ranked([True] * 6))
    assert compare(paths, "--fail-if-worse", "F1:0.1") == 2
    assert "There is no measure “F1”. There are: nDCG@10, RR" in capsys.readouterr().err
    assert compare(paths, "--fail-if-worse", "nDCG@5:0.1", "--top", "10") == 2
    assert compare(paths, "--fail-if-worse", "ndcg@3:0.1") == 0
