"""What people decided about matches, in a book of judgements: a text of one list with the one of the other that it
belongs to, or with the first candidate when it belongs to none. So it counts for the same texts in later lists.
"""

from collections.abc import Callable

from cfbatch_gui.core.judgements.book import Book, Shelf
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject, own_scale
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.matches import Decision, folded

BOOK = "Matches"
_SCALE = own_scale((message("another"), message("the_same")))


class Decisions:
    """All decisions, by the folded text of list A. Blocking; each is on the disk when `decide` returns."""

    def __init__(self, shelf: Shelf, *, clock: Callable[[], float], judge: str = "") -> None:
        """Raises DataError."""
        self._shelf, self._clock, self._judge = shelf, clock, judge
        self._known: dict[str, dict[str, bool]] = {}  # by text of A, what was said of each text of B, the newest last
        book = shelf.find(BOOK)
        for each in book.judgements() if book is not None else ():
            self._note(each)

    def find(self, text: str) -> Decision | None:
        """What counts for a text of list A."""
        said = self._known.get(folded(text))
        return Decision(*next(reversed(said.items()))) if said else None

    def decide(self, text: str, decision: Decision | None) -> Decision | None:
        """Say what a text of list A belongs to, or take back what was said; returns what counted before. Raises
        DataError, DiskFull, after which nothing has changed.
        """
        before = self.find(text)
        if decision is not None:
            said = [self._judgement(text, decision.other, grade=int(decision.accepted))]
        else:
            said = [self._judgement(text, other) for other in self._known.get(folded(text), ())]
        self._book().add(said)
        for each in said:
            self._note(each)
        return before

    def _judgement(self, text: str, other: str, grade: int | None = None) -> Judgement:
        about = Subject("", text), Subject("", other)
        return Judgement(*about, grade, self._judge, Source.PERSON, self._clock(), taken_back=grade is None)

    def _note(self, judgement: Judgement) -> None:
        said = self._known.setdefault(folded(judgement.query.text), {})
        said.pop(judgement.document.text, None)
        if judgement.grade is not None and not judgement.taken_back:
            said[judgement.document.text] = judgement.grade > 0
        if not said:
            del self._known[folded(judgement.query.text)]

    def _book(self) -> Book:
        return self._shelf.find(BOOK) or self._shelf.book_or_new(BOOK, _SCALE)
