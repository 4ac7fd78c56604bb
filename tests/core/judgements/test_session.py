"""Judging one text after the other: answers, undo, the second look, the time left."""

import pytest

from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.session import Session, Shown, between_judges, with_themselves
from cfbatch_gui.core.judgements.values import Subject
from tests.core.jobs.conftest import Clock


def pairs(*texts: str) -> list[Shown]:
    """An exclamation mark: the text is shown again."""
    return [Shown(Subject("", "q"), Subject("", text.rstrip("!")), again=text.endswith("!")) for text in texts]


def grades(book: Book) -> dict[str, int]:
    return {each.document.text: each.grade or 0 for each in book.verdicts()}


def test_undoing_a_second_look_brings_the_first_answer_back(book: Book) -> None:
    session = Session(book, pairs("a", "b", "a!"), judge="me", clock=Clock())
    for grade in (3, 0, 1):
        session.judge(grade)
    assert grades(book) == {"a": 1, "b": 0}
    assert (with_themselves(book).pairs, with_themselves(book).same) == (1, 0)
    session.undo()
    assert grades(book) == {"a": 3, "b": 0}
    assert with_themselves(book).pairs == 0
    session.judge(3)
    assert (with_themselves(book).pairs, with_themselves(book).same) == (1, 1)


def test_two_judges_agree_as_far_as_the_plain_figures_say(book: Book) -> None:
    texts = [f"text {number}" for number in range(6)]
    for judge, given in (("one", (0, 0, 1, 2, 3, 3)), ("two", (0, 1, 1, 2, 3, 0))):
        session = Session(book, pairs(*texts), judge=judge, clock=Clock())
        for grade in given:
            session.judge(grade)
    found = between_judges(book)
    assert (found.pairs, found.same) == (6, 4)
    # Distances 0, 1, 0, 0, 0, 3; by chance from the shares 4, 3, 2 and 3 of 12 of the grades 0 to 3.
    shares = (4 / 12, 3 / 12, 2 / 12, 3 / 12)
    chance = sum(one * two * abs(at - to) for at, one in enumerate(shares) for to, two in enumerate(shares))
    assert found.kappa == pytest.approx(1 - (4 / 6) / chance)


def test_the_time_left_is_at_the_pace_of_the_last_answers_without_pauses(book: Book) -> None:
    clock = Clock()
    session = Session(book, pairs(*map(str, range(50))), judge="me", clock=clock)
    assert session.seconds_left() == 50 * 8
    for took in (5, 5, 3600, 5):
        clock.now += took
        session.judge(0)
    assert session.seconds_left() == pytest.approx(46 * 5)
