"""Ranks, ties and margins of rankings, the distribution of their scores, and labels that are words."""

import sqlite3
from contextlib import closing
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.joining import read_run
from cfbatch_gui.core.evaluation.judged import measure
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.results.labels import keep_grades, parse_grades, propose_grades
from cfbatch_gui.core.results.outcomes import OutcomeCounts, Status, has_parts
from cfbatch_gui.core.results.rankings import RankedContext, Rankings, RetrievalIds
from cfbatch_gui.core.results.score_table import score_figures
from tests.core.evaluation.generated import exported
from tests.core.results.folders import FAILED, LEFT_OUT, WAITING, Outcome, Pair, Table, note_all


def test_what_waits_in_a_batch_that_is_over_has_failed(mixed: Table) -> None:
    rankings = Rankings(mixed.folder, {1: "The batch is gone."})
    sixth = rankings.contexts(1)[-1]
    assert (sixth.status, sixth.error) == (Status.FAILED, "The batch is gone.")
    assert rankings.outcome_counts() == OutcomeCounts(done=5, failed=2, waiting=0, left_out=1, skipped=1)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_blocks_of_any_size_give_every_context_once(mixed: Table, size: int) -> None:
    rankings = Rankings(mixed.folder)
    blocks = list(rankings.blocks(size=size))
    assert all(0 < len(block) <= size for block in blocks)
    together = tuple(context for block in blocks for context in block)
    assert together == rankings.contexts(1) + rankings.contexts(2)


def test_counts_know_what_came_back_since(table: Table) -> None:
    table.rank([Pair("q", "a", 0.5), Pair("q", "b", WAITING)])
    rankings = Rankings(table.folder)
    assert rankings.counts() == (1, 1)
    assert rankings.queries()[0].margin is None
    with table.folder.open() as database:
        database.execute("UPDATE items SET score = 0.75 WHERE score IS NULL")
        note_all(database)
    assert rankings.counts(None, 0.6) == (1, 2)
    assert rankings.queries()[0].margin == 0.25


def test_a_query_without_contexts_stands_among_the_others(table: Table) -> None:
    table.rank([Pair("q", "a", 0.5), Pair("alone", "b", 0.5), Pair("r", "c", 0.25)])
    with table.folder.open() as database:
        database.execute("DELETE FROM items WHERE query_no = 2")
        note_all(database)
    found = [(query.text, query.contexts, query.best) for query in Rankings(table.folder).queries()]
    assert found == [("q", 1, 0.5), ("alone", 0, None), ("r", 1, 0.25)]


def test_a_split_text_says_which_part_has_the_score(table: Table) -> None:
    table.rank([Pair("q", "one two three", 0.5), Pair("q", "short", 0.25)])
    assert not has_parts(table.folder)
    with table.folder.open() as database:
        parts = [(1, 0.25), (2, 0.5), (3, 0.5)]
        database.executemany("INSERT INTO parts VALUES(1, ?, 0, 3, 1, 0, ?)", parts)
        note_all(database)
    assert has_parts(table.folder)
    assert [context.part for context in Rankings(table.folder).contexts(1)] == [2, None]


def test_shared_contexts_carry_the_cells_of_both_files(tmp_path: Path) -> None:
    folder = Table(tmp_path).folder
    with folder.open() as database:
        metadata = {
            "layout": "shared",
            "columns": ["q", "team", "stars"],
            "roles": ["query", "keep", "label"],
            "second_columns": ["t", "team", "secret"],
            "second_roles": ["context", "keep", "ignore"],
        }
        for name, value in metadata.items():
            schema.put_metadata_value(database, name, value)
        database.executescript("""
            INSERT INTO source_rows VALUES (1, 2, '["one","red","5"]'), (1, 3, '["two"]');
            INSERT INTO source_rows VALUES (2, 2, '["text","blue","x"]');
            INSERT INTO queries VALUES (1, '', 'one', 2), (2, '', 'two', 3);
            INSERT INTO texts VALUES (1, '', 'text', '', 2, 2);
            INSERT INTO requests VALUES (1, 'a', 1, 0, 'done', ''), (2, 'b', 1, 1, 'done', '');
            INSERT INTO items VALUES (1, 1, 1, 1, 1, 0, 0.5), (2, 2, 1, 1, 2, 0, 0.25);
        """)
        note_all(database)
    rankings = Rankings(folder)
    assert rankings.columns() == ("team", "stars", "team (original)")
    assert rankings.contexts(1)[0].cells == ("red", "5", "blue")
    assert rankings.contexts(2)[0].cells == ("", "", "blue")


def test_a_writer_is_not_kept_waiting_between_blocks(mixed: Table) -> None:
    blocks = Rankings(mixed.folder).blocks(size=1)
    next(blocks)
    with closing(sqlite3.connect(mixed.folder.data, timeout=0)) as database, database:
        database.execute("UPDATE items SET score = 0.75 WHERE item_no = 7")
        database.execute("UPDATE requests SET state = 'done' WHERE state = 'waiting'")
        note_all(database)
    rest = [context for block in blocks for context in block]
    assert len(rest) == 7


outcomes = st.one_of(st.sampled_from([0.25, 0.5, 0.75, -0.0, 0.0]), st.sampled_from([FAILED, WAITING, LEFT_OUT]))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), outcomes), min_size=1, max_size=30))
def test_the_rule_of_ranks(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, Outcome]]) -> None:
    table = Table(tmp_path_factory.mktemp("job"))
    table.rank([Pair(f"query {query}", f"text {index}", outcome) for index, (query, outcome) in enumerate(rows)])
    rankings, ids = Rankings(table.folder), RetrievalIds(table.folder)

    def id_of(context: RankedContext) -> str:
        return ids.document(context.id, context.row, context.initial_rank)

    for query in rankings.queries():
        contexts = rankings.contexts(query.query_no)
        scored = [context for context in contexts if context.score is not None]
        scores = sorted((context.score for context in contexts if context.score is not None), reverse=True)
        assert contexts[: len(scored)] == tuple(scored)
        for context in scored:
            assert context.rank == scores.index(context.score or 0.0) + 1
            assert context.tied == (scores.count(context.score or 0.0) > 1)
        assert sorted(context.initial_rank for context in contexts) == list(range(1, len(contexts) + 1))
        assert tuple(scored) == tuple(
            sorted(sorted(scored, key=id_of, reverse=True), key=lambda context: context.rank or 0)
        )
        unscored = contexts[len(scored) :]
        assert unscored == tuple(sorted(unscored, key=lambda context: context.initial_rank))
        groups = [context.tie_group for context in scored if context.tied]
        assert groups == sorted(groups)
        assert set(groups) == set(range(1, len({context.score for context in scored if context.tied}) + 1))
        assert query.margin == (scores[0] - scores[1] if len(scores) > 1 else None)
        assert contexts == Rankings(table.folder).contexts(query.query_no)  # which has read no other scores
        for start in range(len(contexts) + 1):
            assert rankings.contexts(query.query_no, start, start + 2) == contexts[start : start + 2]


def test_equal_scores_are_ordered_by_falling_id_as_utf8(table: Table) -> None:
    ids = ["a", "Z", "é", "10", "9", "ﬀ", "😀", "a b"]
    table.rank([Pair("q", f"text {name}", 0.5, id=name) for name in ids])
    expected = ["😀", "ﬀ", "é", "a b", "a", "Z", "9", "10"]  # "a b" is written as a%20b, after a
    assert [context.id for context in Rankings(table.folder).contexts(1)] == expected


def test_a_document_listed_twice_with_one_score_keeps_the_order_of_the_input(table: Table) -> None:
    table.rank([Pair("q", "first", 0.5, id="A"), Pair("q", "other", 0.5, id="B"), Pair("q", "second", 0.5, id="A")])
    assert [context.text for context in Rankings(table.folder).contexts(1)] == ["other", "first", "second"]


ASKED = tuple(
    f"how do I {verb} it"
    for verb in ("reset", "refund", "change", "export", "pay", "cancel", "move", "name", "share", "find")
)


def crossed(texts: int, *, label: str = "") -> list[Pair]:
    """Every text with every query; a text has its highest score with the query of its own number."""
    return [
        Pair(query, f"text {text}", 0.9 if text % len(ASKED) == number else 0.1 + text / 1000, label=label)
        for number, query in enumerate(ASKED)
        for text in range(texts)
    ]


FORGOT = [Pair("forgot the password", "text 0", 0.8), Pair("forgot the password", "text 1", 0.2)]  # "text 0" is first
OTHERS: list[tuple[list[Pair], int, float | None]] = [  # how many pairs are none, and their highest score
    ([Pair(f"q{index}", f"text {index}", 0.5) for index in range(50)], 0, None),
    ([pair for pair in crossed(30) if pair.query != ASKED[0]], 216, None),  # too few queries for a baseline
    (crossed(2), 10, None),
    (crossed(30), 270, 0.129),
    ([*crossed(30), *FORGOT], 271, 0.2),
]


@pytest.mark.parametrize(("pairs", "other_pairs", "highest"), OTHERS)
def test_other_pairs_are_texts_that_fit_another_query_better_and_are_first_nowhere(
    table: Table, pairs: list[Pair], other_pairs: int, highest: float | None
) -> None:
    figures = score_figures(table.rank(pairs).folder)
    assert figures.other_pairs == other_pairs
    assert (figures.others.highest if figures.others else None) == pytest.approx(highest)
    assert figures.other_counts.sum() == (other_pairs if figures.others else 0)


def test_scores_above_most_other_pairs_are_counted(table: Table) -> None:
    figures = score_figures(table.rank(crossed(30)).folder)
    assert figures.others is not None
    assert figures.above == 30 + int(figures.others.count * 0.1)


def test_what_a_label_calls_relevant_is_related_unless_all_queries_share_the_texts(table: Table) -> None:
    folder = table.rank(crossed(30, label="1")).folder
    assert score_figures(folder).other_pairs == 0
    with folder.open() as database:
        schema.put_metadata_value(database, "layout", "shared")
    assert score_figures(folder).other_pairs == 270


def test_shared_first_ranks_are_counted(table: Table) -> None:
    scores: tuple[tuple[str, Outcome], ...] = (("a", 0.5), ("a", 0.5), ("b", 0.5), ("b", 0.25), ("c", FAILED))
    pairs = [Pair(query, f"text {number}", score) for number, (query, score) in enumerate(scores)]
    assert score_figures(table.rank(pairs).folder).first_tied == 1


@pytest.mark.parametrize("score", [0.0, -7.25, 3e8])
def test_one_single_score_has_a_histogram_of_its_own(table: Table, score: float) -> None:
    figures = score_figures(table.rank([Pair("q", "a", score)]).folder)
    assert figures.counts.sum() == 1
    assert figures.edges[0] <= score <= figures.edges[-1]
    assert np.all(np.diff(figures.edges) > 0)


@settings(max_examples=20, deadline=None)
@given(
    step=st.sampled_from([0.001, 0.01, 0.02, 0.025, 0.05, 0.1, 0.25, 1.0]),
    numbers=st.lists(st.integers(-60, 60), min_size=1, max_size=40),
)
def test_a_score_on_an_edge_counts_in_the_bin_at_its_right(
    tmp_path_factory: pytest.TempPathFactory, step: float, numbers: list[int]
) -> None:
    decimal = [number * Decimal(str(step)) for number in numbers]
    table = Table(tmp_path_factory.mktemp("job"))
    figures = score_figures(table.rank([Pair("q", f"{n}", float(score)) for n, score in enumerate(decimal)]).folder)
    edges = [Decimal(repr(edge)) for edge in figures.edges.tolist()]  # repr: the decimal number that the edge is for
    expected = [sum(low <= score < high for score in decimal) for low, high in pairwise(edges)]
    assert figures.counts.tolist() == expected
    assert figures.counts.sum() == len(numbers)


def test_nothing_has_come_back(table: Table) -> None:
    figures = score_figures(table.rank([Pair("q", "a", WAITING)]).folder)
    assert figures.spread is None
    assert (figures.scored, figures.contexts, len(figures.counts)) == (0, 1, 0)


@pytest.mark.parametrize(
    ("labels", "grades"),
    [
        ({"Yes": 1, "no": 0}, True),
        ({"ja": 1, "Nein": 0}, True),
        ({"no": 0, "partly": 1, "Yes!": 2}, True),
        ({"irrelevant": 0, "partially relevant": 1, "relevant": 2}, True),
        ({"Exact": 3, "Substitute": 2, "Complement": 1, "Irrelevant": 0}, True),
        ({"★★★☆☆": 3, "★☆☆☆☆": 1}, True),
        ({"3 stars": 3, "1 star": 1}, True),
        ({"4/5": 4, "2 / 5": 2}, True),
        ({"0.5": 1, "1": 2, "0": 0}, True),
        ({"0,25": 1, "0.75": 3, "1.0": 4}, True),
        ({"yes": 1, "purple": 0}, False),
        ({"see note 4": 1}, False),
    ],
)
def test_usual_ways_of_labelling_are_recognised(labels: dict[str, int], grades: bool) -> None:
    assert propose_grades(list(labels)) == (labels if grades else None)


def test_a_choice_is_written_as_words_and_numbers() -> None:
    assert parse_grades("yes=1, so so = 0,a=b=2,no=-1") == {"yes": 1, "so so": 0, "a=b": 2, "no": -1}
    for wrong in ("yes", "yes=", "=1", "yes=one", "yes=1.5", ""):
        with pytest.raises(UsageError, match="like yes=1,no=0"):
            parse_grades(wrong)


def test_a_choice_changes_measures_and_exported_qrels_alike(tmp_path: Path) -> None:
    labels = ("no", "yes ", "Perhaps", "1", "")
    pairs = [Pair("q", f"text {at}", 0.9 - at / 10, label=label) for at, label in enumerate(labels)]
    table = Table(tmp_path / "job").rank(pairs)
    run = read_run(table.folder, table.job())
    assert run.unusable is not None
    assert (run.unusable.count, run.unusable.proposal) == (3, ())
    keep_grades(table.folder, {"no": 0, "yes": 2, "Perhaps": 1})
    run = read_run(table.folder, table.job())
    assert run.unusable is None
    found = measure(run)
    assert found is not None
    assert (found.judged, found.relevant) == (4, 3)
    _, qrels = exported(table, tmp_path)
    assert sorted(qrels["q1"].values()) == [0, 1, 1, 2]
    keep_grades(table.folder, {})
    assert read_run(table.folder, table.job()).unusable is not None
