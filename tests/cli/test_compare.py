"""`cfbatch compare`, its status for what is worse and for what cannot be told, and the scores in `cfbatch show`."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import pytest

from cfbatch_gui.cli.compare import read_limit
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.judgements.book import Shelf
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from cfbatch_gui.core.system.paths import Paths
from tests.cli.conftest import keep_job
from tests.core.results.folders import WAITING, Pair
from tests.journeys.terminal import Terminal, read_csv

QUERIES = ("reset my password", "refund for an order", "change the invoice")


def pairs(*, other: bool = False) -> list[Pair]:
    """Every text with every query. In the other job the queries have other words, and the best text differs."""
    return [
        Pair(
            query,
            f"{'Title: ' if other else ''}text {text}",
            0.9 - text / 100 if text % 3 == (number + other) % 3 else 0.1 + text / 1000,
            id=f"T{text}",
            label="1" if text == number else "0",
        )
        for number, query in enumerate(QUERIES)
        for text in range(12)
    ]


@pytest.fixture(autouse=True)
def _jobs(paths: Paths) -> None:
    begun = [*pairs()[:12], *(replace(pair, outcome=WAITING) for pair in pairs()[12:])]
    for name, made in (("one", pairs()), ("two", list(reversed(pairs(other=True)))), ("begun", begun)):
        keep_job(paths, name, made)
    keep_job(paths, "vectors", pairs(), kind=Kind.EMBED)


def test_both_tables_and_what_has_moved(terminal: Terminal) -> None:
    ended = terminal.run("compare", "one", "two")
    assert (ended.status, ended.err) == (0, "")
    lines = [line.split() for line in ended.out.splitlines()]
    measures = {line[0]: line[1:3] for line in reversed(lines) if len(line) > 2}
    assert measures["nDCG@10"] == ["1.0000", "0.0000"]
    assert measures["Judged@10"] == ["100%", "100%"]
    assert measures["RBO"][0] == "–"
    assert "3 of 3" in ended.out  # the first rank differs for every query


def test_one_object_for_programs(terminal: Terminal) -> None:
    found = terminal.run("compare", "one", "two", "begun", "--json", "--top", 3, "--most", 1).json
    assert [job["job"] for job in found["jobs"]] == ["one", "two", "begun"]
    assert found["compared"] == {"queries": 1, "contexts": 12, "partial": True}
    assert found["jobs"][1]["matched_contexts"] == {"id and text": 0, "text": 0, "id": 36}
    first, second = found["with_first"]
    assert first["other_first"] == 1
    assert (second["rbo"], second["unmoved"], second["moved_most"]) == (pytest.approx(1.0), 1, [])
    assert (len(found["evaluation"]["queries"]), found["evaluation"]["runs"][2]["without_answer"]) == (3, 2)
    answer = [found["answers"][0][name] for name in ("metric", "worse", "low", "difference_is_seen")]
    assert answer == ["nDCG@3", 3, None, False]


@pytest.mark.parametrize(
    "arguments",
    [
        ("one",),
        ("one", "one"),
        ("one", "vectors"),  # of which nothing has come back
        ("vectors", "vectors too"),
        ("one", "nothing like it"),
        ("one", "two", "--top", 0),
        ("one", "two", "--out", "/nowhere/at/all.csv"),
    ],
)
def test_refuses_with_a_sentence(terminal: Terminal, paths: Paths, arguments: tuple[object, ...]) -> None:
    keep_job(paths, "vectors too", pairs(), kind=Kind.EMBED)
    ended = terminal.run("compare", *arguments)
    assert (ended.status, ended.out) == (2, "") and ended.complaint


def test_show_measures_a_job_by_its_labels(terminal: Terminal) -> None:
    assert "nDCG@10        1.0000" in terminal.run("show", "one").out
    quality = terminal.run("show", "one", "--json").json["quality"]
    measured, (of_run,) = quality["evaluation"], quality["evaluation"]["runs"]
    assert (len(measured["queries"]), measured["relevant"], quality["labels_left_out"]) == (3, 3, None)
    assert (of_run["means"]["RR"], of_run["best_rank"]) == (1.0, [1, 1, 1])


def test_labels_that_are_no_grades_are_said_with_the_first_row(terminal: Terminal, paths: Paths) -> None:
    odd = {1: "0.5", 4: "yes", 5: "{n}", 6: "yes"}
    made = [replace(pair, label=odd.get(number, pair.label)) for number, pair in enumerate(pairs())]
    keep_job(paths, "odd", made)
    left_out = {"count": 4, "label": "0.5", "row": 3, "proposal": []}
    assert terminal.run("show", "odd", "--json").json["quality"]["labels_left_out"] == left_out
    assert terminal.run("compare", "odd", "one", "--json").json["jobs"][0]["labels_left_out"] == left_out
    assert all("“0.5”" in terminal.run(*command, "odd").out for command in (("show",), ("compare", "one")))


TEXTS = 4
GATE = ("compare", "old", "new", "--fail-if-worse")


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


@pytest.mark.parametrize(
    ("new", "status"), [([True] * 12, 0), ([True] * 3 + [False] * 9, 6), ([True] * 11 + [False], 7)]
)
def test_the_status_says_whether_it_is_worse(new: list[bool], status: int, terminal: Terminal, paths: Paths) -> None:
    keep_job(paths, "old", ranked([True] * 12))
    keep_job(paths, "new", ranked(new))
    assert terminal.run(*GATE, "nDCG@10:0.02").status == status


def test_a_book_judges_what_has_no_labels(terminal: Terminal, paths: Paths) -> None:
    keep_job(paths, "old", ranked([True] * 12, labelled=False))
    keep_job(paths, "new", ranked([False] * 12, labelled=False))
    assert terminal.run(*GATE, "nDCG@10:0.02").status == 8
    with closing(Shelf(paths.judgements)) as shelf:
        shelf.book_or_new("Support, 2026").add(
            [
                Judgement(Subject("", pair.query), Subject("", pair.text), int(pair.label), "me", Source.PERSON, 1.0)
                for pair in ranked([True] * 12)
            ]
        )
    assert terminal.run(*GATE, "nDCG@10:0.02", "--judgements", "support, 2026").status == 6
    book = ("compare", "old", "new", "--judgements", "Support, 2026")
    found = terminal.run(*book, "--json").json
    assert (found["judgements"], len(found["evaluation"]["queries"])) == ("Support, 2026", 12)
    assert len(found["answers"][0]["by_query"]) == 12
    texts, table = paths.root / "texts.csv", paths.root / "queries.csv"
    assert terminal.run(*book, "--out", texts, "--queries", table).status == 0
    assert [(row["nDCG@10_1"], row["RR_2"]) for row in read_csv(table)] == [("1.0", "0.25")] * 12
    assert len(read_csv(texts)) == 12 * TEXTS
    assert terminal.run("compare", "old", "new", "--judgements", "another").status == 2
    assert "“Support, 2026”" in terminal.run("show", "old", "--judgements", "Support, 2026").out


def test_a_limit_has_a_measure_and_a_number() -> None:
    assert (read_limit("nDCG@5:0.02").metric, read_limit("nDCG@5:0.02").k) == ("nDCG@5", 5)
    assert (read_limit("AP:0,1").k, read_limit("AP:0,1").by) == (None, 0.1)
    for wrong in ("nDCG@10", "nDCG@10:2", "nDCG@0:0.1", ":0.1", "RR:-0.1", "RR:x"):
        with pytest.raises(ValueError):
            read_limit(wrong)


def test_an_unknown_measure_and_another_cut_off_are_refused(terminal: Terminal, paths: Paths) -> None:
    keep_job(paths, "old", ranked([True] * 6))
    keep_job(paths, "new", ranked([True] * 6))
    ended = terminal.run(*GATE, "F1:0.1")
    assert ended.status == 2 and "nDCG@10, RR" in ended.err
    assert terminal.run(*GATE, "nDCG@5:0.1", "--top", "10").status == 2
    assert terminal.run(*GATE, "ndcg@3:0.1").status == 0
