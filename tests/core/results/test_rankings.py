"""Ranks, ties, margins and errors of rankings, against values worked out by hand."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.outcomes import OutcomeCounts, Status, has_parts
from cfbatch_gui.core.results.rankings import Kept, RankedContext, Rankings, RetrievalIds
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
    assert rankings.counts() == Kept(1, 1)
    assert rankings.queries()[0].margin is None
    with closing(sqlite3.connect(table.folder.data)) as database, database:
        database.execute("UPDATE items SET score = 0.75 WHERE score IS NULL")
        note_all(database)
    assert rankings.counts(None, 0.6) == Kept(1, 2)
    assert rankings.queries()[0].margin == 0.25


def test_a_query_without_contexts_stands_among_the_others(table: Table) -> None:
    table.rank([Pair("q", "a", 0.5), Pair("alone", "b", 0.5), Pair("r", "c", 0.25)])
    with closing(sqlite3.connect(table.folder.data)) as database, database:
        database.execute("DELETE FROM items WHERE query_no = 2")
        note_all(database)
    found = Rankings(table.folder).queries()
    assert [(query.text, query.contexts, query.best) for query in found] == [
        ("q", 1, 0.5),
        ("alone", 0, None),
        ("r", 1, 0.25),
    ]


def test_a_split_text_says_which_part_has_the_score(table: Table) -> None:
    table.rank([Pair("q", "one two three", 0.5), Pair("q", "short", 0.25)])
    assert not has_parts(table.folder)
    with closing(sqlite3.connect(table.folder.data)) as database, database:
        parts = [(1, 0.25), (2, 0.5), (3, 0.5)]
        database.executemany("INSERT INTO parts VALUES(1, ?, 0, 3, 1, 0, ?)", parts)
        note_all(database)
    assert has_parts(table.folder)
    assert [context.part for context in Rankings(table.folder).contexts(1)] == [2, None]


def test_shared_contexts_carry_the_cells_of_both_files(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    folder.create()
    schema.create(folder.data)
    with closing(sqlite3.connect(folder.data)) as database, database:
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
        assert tuple(scored) == tuple(sorted(sorted(scored, key=id_of, reverse=True), key=by_rank))
        unscored = contexts[len(scored) :]
        assert unscored == tuple(sorted(unscored, key=lambda context: context.initial_rank))
        groups = [context.tie_group for context in scored if context.tied]
        assert groups == sorted(groups)
        assert set(groups) == set(range(1, len({context.score for context in scored if context.tied}) + 1))
        assert query.margin == (scores[0] - scores[1] if len(scores) > 1 else None)
        assert contexts == Rankings(table.folder).contexts(query.query_no)  # which has read no other scores
        for start in range(len(contexts) + 1):
            assert rankings.contexts(query.query_no, start, start + 2) == contexts[start : start + 2]


def by_rank(context: RankedContext) -> int:
    return context.rank or 0


def test_equal_scores_are_ordered_by_falling_id_as_utf8(table: Table) -> None:
    ids = ["a", "Z", "é", "10", "9", "ﬀ", "😀", "a b"]
    table.rank([Pair("q", f"text {name}", 0.5, id=name) for name in ids])
    expected = ["😀", "ﬀ", "é", "a b", "a", "Z", "9", "10"]  # "a b" is written as a%20b, after a
    assert [context.id for context in Rankings(table.folder).contexts(1)] == expected


def test_a_document_listed_twice_with_one_score_keeps_the_order_of_the_input(table: Table) -> None:
    table.rank([Pair("q", "first", 0.5, id="A"), Pair("q", "other", 0.5, id="B"), Pair("q", "second", 0.5, id="A")])
    assert [context.text for context in Rankings(table.folder).contexts(1)] == ["other", "first", "second"]
