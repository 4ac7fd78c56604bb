"""What people decided about rows, in a book of judgements for each purpose: a text with the one of the other list, or
the category, that it belongs to, or with the first candidate when it belongs to none; so it counts for the same texts
in later lists. The book of a screening is the job's own, with its verdicts in the place of the other text.
"""

import threading
from collections.abc import Callable

from msgspec.structs import replace

from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.judgements.book import Book, Shelf, newest
from cfbatch_gui.core.judgements.values import CATEGORIES, MATCHES, SCREENING, Judgement, Source, Subject
from cfbatch_gui.core.results.matches import Decision, folded


def book_of_decisions(job: Job) -> str:
    """The name of the book with what is decided about a job's rows."""
    if job.purpose is Purpose.SEARCH:
        return f"{SCREENING} {job.id}"
    return CATEGORIES if job.purpose is Purpose.CATEGORIES else MATCHES


class Decisions:
    """All decisions, by the folded text of list A: read when first needed, and again after something else, as an
    import, has changed the books. For any thread; blocking, a second for a large book. Each decision is on the disk
    when `decide` returns.
    """

    def __init__(self, shelf: Shelf, *, clock: Callable[[], float], book: str = MATCHES) -> None:
        self._shelf, self._clock, self._name = shelf, clock, book
        self._lock = threading.Lock()
        self._known: dict[str, dict[object, Judgement]] = {}  # by text of A what counts by pair and judge, newest last
        self._size = -1  # of the shelf when it was read

    def find(self, text: str) -> Decision | None:
        """What counts for a text of list A. Raises DataError."""
        with self._lock:
            self._read()
            return self._newest(text)

    def decide(self, text: str, decision: Decision | None) -> Decision | None:
        """Say what a text of list A belongs to, or take back what was said; returns what counted before. Raises
        DataError, DiskFull, after which nothing has changed.
        """
        with self._lock:
            self._read()
            before, now = self._newest(text), self._clock()
            known = self._known.get(folded(text), {}).values()
            said = [replace(each, grade=None, taken_back=True, time=now) for each in known]
            if decision is not None:
                about = Subject("", text), Subject("", decision.other)
                said.append(Judgement(*about, int(decision.accepted), "", Source.PERSON, now))
            if said:
                self._book().add(said)
            for each in said:
                self._note(each)
            self._size += len(said)
        return before

    def _newest(self, text: str) -> Decision | None:
        *_, last = self._known.get(folded(text), {}).values() or (None,)
        return Decision(last.document.text, (last.grade or 0) > 0) if last is not None else None

    def _read(self) -> None:
        size = self._shelf.size()
        if size == self._size:
            return
        book = self._shelf.find(self._name)
        self._known, self._size = {}, size
        for each in sorted(newest(book.judgements()) if book is not None else (), key=lambda said: said.time):
            self._note(each)

    def _note(self, judgement: Judgement) -> None:
        said = self._known.setdefault(folded(judgement.query.text), {})
        said.pop((judgement.pair, judgement.judge), None)
        if judgement.grade is not None and not judgement.taken_back:
            said[judgement.pair, judgement.judge] = judgement
        if not said:
            del self._known[folded(judgement.query.text)]

    def _book(self) -> Book:
        return self._shelf.find(self._name) or self._shelf.book_or_new(self._name)
