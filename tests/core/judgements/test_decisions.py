"""What people decided about matches: for the same texts in any list, also out of a file and in again."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.judgements.book import Book, Shelf
from cfbatch_gui.core.judgements.decisions import Decisions
from cfbatch_gui.core.judgements.files import Form, import_judgements, read_judgements, write_judgements
from cfbatch_gui.core.judgements.review import NONE, Review
from cfbatch_gui.core.judgements.values import MATCHES
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.matches import Decision, MatchState, folded, read_matches
from tests.core.jobs.conftest import Clock
from tests.core.judgements.test_files import NASTY
from tests.support.lists import two_lists


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with closing(Shelf(tmp_path / "decisions.db")) as opened:
        yield opened


def decided(shelf: Shelf) -> Decisions:
    return Decisions(shelf, clock=iter(range(1, 1_000_000)).__next__)


def taken_in(shelf: Shelf, path: Path) -> Book:
    book = shelf.book_or_new(MATCHES.lower())
    import_judgements(book, read_judgements(path).judgements, judge=path.name, time=1e9)
    return book


@pytest.mark.parametrize("form", [Form.CSV, Form.LINES])
def test_decisions_go_out_of_a_book_and_into_another_one(shelf: Shelf, tmp_path: Path, form: Form) -> None:
    decisions = decided(shelf)
    for number, text in enumerate(NASTY):
        decisions.decide(text, Decision(f"first of {text}", accepted=True))
        decisions.decide(text, Decision(NASTY[-number], accepted=number % 3 > 0))
    decisions.decide("taken back", Decision("=1+1", accepted=True))
    decisions.decide("taken back", None)
    write_judgements(shelf.book(MATCHES), tmp_path / "decisions", form)
    with closing(Shelf(tmp_path / "another.db")) as other:
        found = decided(other)
        assert found.find(NASTY[1]) is None
        book = taken_in(other, tmp_path / "decisions")
        assert (book.name, book.scale) == (MATCHES, shelf.book(MATCHES).scale)
        for text in (*NASTY, "taken back"):
            assert found.find(text) == decisions.find(text)
        assert [found.find(text).accepted for text in NASTY[:2]] == [False, True]  # type: ignore[union-attr]


def test_the_last_word_counts_whoever_said_it(shelf: Shelf, tmp_path: Path) -> None:
    decisions, file = decided(shelf), tmp_path / "colleague.csv"
    decisions.decide("pot", Decision("Pot, 8 l", accepted=True))
    file.write_text("query,text,grade,time\npot ,Pan,1,1971-01-01\nPOT,Kettle,1,2020-01-01T00:00:00Z\n")
    taken_in(shelf, file)
    assert decisions.find("pot") == Decision("Kettle", accepted=True)
    assert decisions.decide("pot", None) == Decision("Kettle", accepted=True)
    for each in (decisions, decided(shelf)):
        assert each.find("Pot") is None


async def test_a_review_counts_for_next_month_and_equal_texts(tmp_path: Path) -> None:
    a, b, clock = "id,name\n1,Pot 8 l\n2,POT 8 l\n3,Pan 5 l\n", "sku,name\nx,Pot 9 l\ny,Pan 6 l\n", Clock()
    program = await Program.open(tmp_path / "data", environ={}, practice_times=(0.0, 0.0), clock=clock)
    job = await two_lists(program, tmp_path, a, b, threshold=-1.0)
    matches = read_matches(program.folder(job.id), job, program.decisions_of(job).find)
    review = Review(matches, program.decisions_of(job), clock=clock)
    assert (review.done, review.total) == (0, 3)

    def decide_all() -> None:
        while review.asked is not None:
            clock.now += 5
            review.decide(0 if "pot" in folded(review.asked.row.text) else NONE)

    decide_all()
    assert review.done == 3 and len(review.given) == 2
    review.take_back()
    assert review.seconds_left() == 5 * (3 - review.done)
    decide_all()
    later = await two_lists(program, tmp_path, f"{a}4,Lid 2 l\n", f"{b}z,Lid 3 l\n", threshold=-1.0)
    found = read_matches(program.folder(later.id), later, program.decisions_of(later).find)
    assert [MatchState(state).name for state in found.states] == ["ACCEPTED", "ACCEPTED", "NONE", "CHECK"]
    await program.close()
