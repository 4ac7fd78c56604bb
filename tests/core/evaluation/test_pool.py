"""What is shown to a judge, and in which order."""

from collections import Counter
from pathlib import Path

import pytest

from cfbatch_gui.core.evaluation.joining import Run
from cfbatch_gui.core.evaluation.judged import Pool, make_pool
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.session import Session
from tests.core.evaluation.generated import run_of
from tests.core.results.folders import Pair


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Run, Run]:
    """Two rankings of the same twelve texts for four queries; the second is the first upside down."""
    pairs = [(f"query {query}", f"text {query}.{text}", text) for query in range(4) for text in range(12)]
    one = run_of(tmp_path, [Pair(query, text, 1 - at / 100) for query, text, at in pairs], "one")
    return one, run_of(tmp_path, [Pair(query, text, at / 100) for query, text, at in pairs], "other")


def pool_of(runs: tuple[Run, ...], book: Book, judge: str = "me", k: int = 3, seed: int = 1) -> Pool:
    return make_pool(runs, book, judge=judge, k=k, seed=seed)


def test_it_has_the_first_texts_of_each_ranking_once(runs: tuple[Run, Run], book: Book) -> None:
    pool = pool_of(runs, book)
    fresh = [each.document.text for each in pool.items if not each.again]
    assert sorted(fresh) == sorted(f"text {query}.{text}" for query in range(4) for text in (0, 1, 2, 9, 10, 11))
    assert (pool.queries, pool.texts, pool.judged) == (4, 24, 0)


def test_queries_stay_together_and_their_texts_are_shuffled_by_the_seed(runs: tuple[Run, Run], book: Book) -> None:
    pool = pool_of(runs, book)
    fresh = [each for each in pool.items if not each.again]
    assert [each.query_number for each in fresh] == [number for number in (1, 2, 3, 4) for _ in range(6)]
    assert pool == pool_of(runs, book)
    assert pool != pool_of(runs, book, seed=2)
    texts = [each.document.text for each in fresh]
    assert texts != sorted(texts)


def test_some_texts_come_again_some_time_later(runs: tuple[Run, Run], book: Book) -> None:
    shown = [each.document.text for each in pool_of(runs, book).items]
    again = [at for at, each in enumerate(pool_of(runs, book).items) if each.again]
    assert len(again) == 2
    for at in again:
        assert at - shown.index(shown[at]) > 6


def test_what_is_judged_is_not_shown_again_in_the_next_pool(runs: tuple[Run, Run], book: Book) -> None:
    session = Session(book, pool_of(runs, book).items, judge="me", clock=lambda: 5.0)
    done = Counter[str]()
    for grade in (0, 1, None, 2, 3):
        assert session.current is not None
        done[session.current.document.text] += 1
        session.judge(grade)
    pool = pool_of(runs, book)
    assert pool.judged == 5
    assert not {each.document.text for each in pool.items} & set(done)


def test_a_second_judge_sees_a_share_of_what_the_first_has_judged(runs: tuple[Run, Run], book: Book) -> None:
    session = Session(book, pool_of(runs, book).items, judge="me", clock=lambda: 5.0)
    while not session.is_done:
        session.judge(1)
    assert pool_of(runs, book).items == ()
    seconds = pool_of(runs, book, judge="you")
    assert len(seconds.items) == round(24 * 0.2)
    assert not any(each.again for each in seconds.items)


def test_a_text_with_a_label_is_judged_already(tmp_path: Path, book: Book) -> None:
    run = run_of(tmp_path, [Pair("q", "a", 0.5, label="1"), Pair("q", "b", 0.4, label="yes"), Pair("q", "c", 0.3)])
    pool = pool_of((run,), book, k=2)
    assert [each.document.text for each in pool.items] == ["b"]
    assert (pool.texts, pool.judged) == (2, 1)
