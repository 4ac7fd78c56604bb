"""`cfbatch compare`, and the statistics of all scores in `cfbatch show`."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from tests.cli.conftest import Run
from tests.core.results.folders import WAITING, Pair, Table

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
    paths.create()
    ledger = Ledger.open(paths)
    for name, made, kind in (
        ("one", pairs(), Kind.RANK),
        ("two", list(reversed(pairs(other=True))), Kind.RANK),
        ("begun", [*pairs()[:12], *(replace(pair, outcome=WAITING) for pair in pairs()[12:])], Kind.RANK),
        ("vectors", pairs(), Kind.EMBED),
    ):
        Table(paths.job(name)).rank(made)
        job = Job(name, f"Job {name}", kind, "@cf/baai/bge-m3", "practice", 1.0, is_sent=True, rows_in=36, texts=36)
        ledger.put(job, [Batch(name, 1, BatchState.DONE, 3, 36, 1000)])
    ledger.close()


def test_says_how_items_were_matched_and_what_has_moved(run: Run) -> None:
    status, out, err = run("compare", "one", "two")
    assert (status, err) == (0, "")
    assert "queries 3 by text; contexts 36 by id alone, with other texts" in out
    assert "3 of 3" in out  # the first rank differs for every query
    assert "nDCG@10" in out
    assert "Partial" not in out


def test_one_object_for_programs(run: Run) -> None:
    _, out, _ = run("compare", "one", "two", "begun", "--json", "--top", 3, "--most", 1)
    found = json.loads(out)
    assert [job["job"] for job in found["jobs"]] == ["one", "two", "begun"]
    assert found["compared"] == {"queries": 1, "contexts": 12, "partial": True}
    assert found["jobs"][1]["matched_contexts"] == {"id_and_text": 0, "text": 0, "id": 36}
    first, second = found["with_first"]
    assert first["other_first"] == 1
    assert (second["rbo"], second["unmoved"], second["moved_most"]) == (pytest.approx(1.0), 1, [])
    assert found["metrics"]["queries"] == 3
    assert found["metrics"]["jobs"][2]["without_answer"] == 2


def test_writes_a_row_for_each_text_and_each_query(run: Run, tmp_path: Path) -> None:
    texts, queries = tmp_path / "texts.csv", tmp_path / "queries.csv"
    status, _, err = run("compare", "one", "two", "--out", texts, "--queries", queries)
    assert status == 0
    assert f"Wrote 36 rows to {texts}" in err
    with texts.open(encoding="utf-8", newline="") as file:
        assert {row["doc_id"] for row in csv.DictReader(file)} == {f"T{number}" for number in range(12)}
    with queries.open(encoding="utf-8", newline="") as file:
        assert [row["query"] for row in csv.DictReader(file)] == list(QUERIES)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("one",), "Name two jobs or more"),
        (("one", "one"), "each of them once"),
        (("one", "vectors"), "made vectors and no scores"),
        (("one", "nothing like it"), "nothing like it"),
        (("one", "two", "--top", 0), "--top must be 1 or more"),
        (("one", "two", "--out", "/nowhere/at/all.csv"), "There is no folder"),
    ],
)
def test_refuses_with_a_sentence(run: Run, arguments: tuple[object, ...], says: str) -> None:
    status, out, err = run("compare", *arguments)
    assert (status, out) == (2, "")
    assert says in err


def test_show_has_the_figures_of_the_overview(run: Run) -> None:
    _, out, _ = run("show", "one")
    assert "from ten queries on" in out
    _, out, _ = run("show", "begun")
    assert "12 of 36; partial" in out
    assert "no text was ranked for two queries" in out
    _, out, _ = run("show", "one", "--json")
    scores = json.loads(out)["scores"]
    assert (scores["scored"], scores["other_pairs"]) == (36, 24)
    assert sum(scores["histogram"]["counts"]) == 36


def test_show_measures_a_job_by_its_labels(run: Run) -> None:
    _, out, _ = run("show", "one")
    assert "means of 3 judged queries" in out
    assert "100% are judged" in out
    _, out, _ = run("show", "one", "--json")
    quality = json.loads(out)["quality"]
    assert (quality["queries"], quality["relevant"], quality["labels_left_out"]) == (3, 3, None)
    assert quality["RR"] == 1.0
    assert [query["rank_of_best"] for query in quality["by_query"]] == [1, 1, 1]


def test_labels_that_are_no_grades_are_said_with_their_rows(run: Run, paths: Paths) -> None:
    odd = {1: "0.5", 4: "yes", 5: "{n}", 6: "yes"}
    made = [replace(pair, label=odd.get(number, pair.label)) for number, pair in enumerate(pairs())]
    Table(paths.job("odd")).rank(made)
    ledger = Ledger.open(paths)
    job = Job("odd", "Odd labels", Kind.RANK, "@cf/baai/bge-m3", "practice", 1.0, is_sent=True, rows_in=36, texts=36)
    ledger.put(job, [Batch("odd", 1, BatchState.DONE, 3, 36, 1000)])
    ledger.close()
    said = "4 labels are no whole numbers and were left out, such as “0.5” and “yes” and “{n}” (rows 3, 6, 7, 8)"
    assert said in run("show", "odd")[1]
    assert f"Job 2: {said}" in run("compare", "one", "odd")[1]
    _, out, _ = run("show", "odd", "--json")
    left_out = {"count": 4, "examples": ["0.5", "yes", "{n}"], "first_rows": [3, 6, 7, 8], "proposed_grades": None}
    assert json.loads(out)["quality"]["labels_left_out"] == left_out
    _, out, _ = run("compare", "odd", "one", "--json")
    assert json.loads(out)["jobs"][0]["labels_left_out"] == left_out


def test_compare_answers_in_words(run: Run) -> None:
    _, out, _ = run("compare", "one", "two")
    assert "2 is better than 1 for 0 queries, worse for 3, the same for 0: 3 queries are too few to tell." in out
    _, out, _ = run("compare", "one", "two", "--json")
    (answer,) = json.loads(out)["answers"]
    assert (answer["metric"], answer["worse"], answer["low"], answer["difference_is_seen"]) == (
        "nDCG@10",
        3,
        None,
        False,
    )
