"""The comparison of rankings of several jobs over the same items."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.comparison import compare
from cfbatch_gui.core.evaluation.joining import MatchedBy
from cfbatch_gui.core.evaluation.runs import read_run
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.ranks import ranks_of
from cfbatch_gui.core.results.score_table import has_same_input
from tests.core.evaluation.runs import run_of, scored
from tests.core.results.folders import FAILED, WAITING, Pair, Table

BASE = [
    Pair("reset", "first", 0.9, id="A"),
    Pair("reset", "second", 0.5, id="B"),
    Pair("reset", "third", 0.5, id="C"),
    Pair("refund", "fourth", 0.4, id="D"),
    Pair("refund", "fifth", 0.3, id="E"),
]


def test_items_are_matched_in_whatever_order_they_come(tmp_path: Path) -> None:
    other = list(reversed(scored(BASE, 0.1, 0.2, 0.3, 0.1, 0.2)))
    compared = compare([run_of(tmp_path, BASE, "one"), run_of(tmp_path, other, "other")])
    assert [query.text for query in compared.queries] == ["reset", "refund"]
    assert compared.ranks[0].texts() == ["1", "2=", "2=", "1", "2"]
    assert compared.ranks[1].rank.tolist() == [3, 2, 1, 2, 1]
    assert compared.changes(1).tolist() == [-2, 0, 1, -1, 1]
    assert compared.joined[1].texts == {MatchedBy.ID_AND_TEXT: 5, MatchedBy.TEXT: 0, MatchedBy.ID: 0}
    for index, run in zip(compared.indices, compared.runs, strict=True):
        texts = run.texts(index.tolist())
        assert [texts[at].id for at in index.tolist()] == ["A", "B", "C", "D", "E"]


def test_another_template_is_matched_by_the_ids_of_its_texts(tmp_path: Path) -> None:
    other = [replace(pair, text=f"Title: {pair.text}") for pair in scored(BASE, 0.1, 0.2, 0.3, 0.1, 0.2)]
    compared = compare([run_of(tmp_path, BASE, "one"), run_of(tmp_path, other, "other")])
    assert compared.joined[1].texts[MatchedBy.ID] == 5
    assert compared.joined[1].queries[MatchedBy.TEXT] == 2


def test_ranks_are_written_as_people_write_them() -> None:
    scores = np.append(-np.arange(999.0), [-1_000.0, -1_000.0])
    assert ranks_of(np.zeros(1_001, dtype=np.int32), scores).texts()[-2:] == ["1,000=", "1,000="]


def test_only_what_all_have_scored_is_compared(tmp_path: Path) -> None:
    other = scored(BASE, 0.1, FAILED, 0.3, WAITING, WAITING)
    compared = compare([run_of(tmp_path, BASE, "one"), run_of(tmp_path, other, "other")])
    assert [query.text for query in compared.queries] == ["reset"]
    assert compared.ranks[0].texts() == ["1", "2"]  # among the two texts that both jobs have scored
    assert compared.is_partial
    assert not compared.runs[0].is_partial


def test_more_than_two_jobs_share_what_all_of_them_have(tmp_path: Path) -> None:
    runs = [run_of(tmp_path, pairs, name) for name, pairs in (("one", BASE), ("two", BASE[:4]), ("three", BASE[1:]))]
    compared = compare(runs)
    assert len(compared.query) == 3
    assert len(compared.indices) == len(compared.scores) == len(compared.ranks) == 3
    assert compared.overlaps(2).rbo.tolist() == pytest.approx([1.0, 1.0])


def test_overlap_per_query(tmp_path: Path) -> None:
    compared = compare([run_of(tmp_path, BASE, "one"), run_of(tmp_path, scored(BASE, 0.9, 0.5, 0.5, 0.1, 0.2), "two")])
    found = compared.overlaps(1, top_k=1)
    assert found.rbo[0] > 0.9
    assert found.rbo[1] == pytest.approx(0.9)
    assert found.first.tolist() == [1.0, 0.0]
    assert compared.of_query(1).tolist() == [3, 4]


def test_a_job_compared_with_itself_has_not_moved(tmp_path: Path) -> None:
    run = run_of(tmp_path, BASE)
    compared = compare([run, run])
    assert not compared.changes(1).any()
    assert np.array_equal(compared.scores[0], compared.scores[1])


def test_the_same_input_is_matched_without_reading_its_texts(tmp_path: Path) -> None:
    pairs = [replace(BASE[0], id=""), *BASE[1:]]
    one = run_of(tmp_path, pairs, "one")
    other = run_of(tmp_path, scored(pairs, 0.1, FAILED, 0.3, 0.1, 0.2), "other")
    assert has_same_input(one.folder, one.table, other.folder, other.table)
    compared = compare([one, other])
    assert compared.joined[1].texts == {MatchedBy.ID_AND_TEXT: 4, MatchedBy.TEXT: 1, MatchedBy.ID: 0}
    assert compared.joined[1].queries == {MatchedBy.ID_AND_TEXT: 0, MatchedBy.TEXT: 2, MatchedBy.ID: 0}
    assert compared.joined[1].pair_of.tolist() == [0, 1, 2, 3, 4]
    assert compared.indices[1].tolist() == [0, 2, 3, 4]


@pytest.mark.parametrize(
    "pairs",
    [
        [*BASE[:4], replace(BASE[4], text="Fifth")],
        [*BASE[:4], replace(BASE[4], id="e")],
        [*BASE[:3], replace(BASE[3], query="Refund"), replace(BASE[4], query="Refund")],
        [BASE[1], BASE[0], *BASE[2:]],
        BASE[:4],
        [*BASE, Pair("refund", "sixth", 0.2)],
    ],
    ids=["another text", "another id", "another query", "another order", "one less", "one more"],
)
def test_what_differs_at_all_is_another_input(tmp_path: Path, pairs: list[Pair]) -> None:
    one, other = run_of(tmp_path, BASE, "one"), run_of(tmp_path, pairs, "other")
    assert not has_same_input(one.folder, one.table, other.folder, other.table)
    assert not has_same_input(other.folder, other.table, one.folder, one.table)


def test_queries_without_an_id_are_matched_by_their_text_only(tmp_path: Path) -> None:
    other = [replace(pair, query=f"{pair.query}?") for pair in BASE]
    with pytest.raises(UsageError, match="no query with a text in common"):
        compare([run_of(tmp_path, BASE, "one"), run_of(tmp_path, other, "other")])


def test_queries_with_ids_are_matched_though_their_wording_differs(tmp_path: Path) -> None:
    other = [replace(pair, query=f"{pair.query}?") for pair in BASE]
    runs = [run_of(tmp_path, pairs, name) for name, pairs in (("one", BASE), ("other", other))]
    for run in runs:
        with closing(sqlite3.connect(run.folder.data)) as database, database:
            database.execute("UPDATE queries SET query_id = 'q' || query_no")
    compared = compare([read_run(run.folder, run.metadata) for run in runs])
    assert compared.joined[1].queries[MatchedBy.ID] == 2
    assert len(compared.query) == 5


def test_vectors_and_jobs_without_scores_say_so(tmp_path: Path) -> None:
    table = Table(tmp_path / "job").rank(scored(BASE, *[WAITING] * 5))
    with pytest.raises(UsageError, match="no scores yet"):
        read_run(table.folder, table.metadata())
    with pytest.raises(UsageError, match="vectors"):
        read_run(table.folder, table.metadata(Kind.EMBED))
    with pytest.raises(UsageError, match="two jobs"):
        compare([])
