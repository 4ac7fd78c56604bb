"""The book of judgements that jobs are measured by, and how the labels of jobs get into it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.evaluation.book_grades import BookGrades, read_book_grades
from cfbatch_gui.core.evaluation.joining import join
from cfbatch_gui.core.evaluation.label_judgements import has_label, label_judgements
from cfbatch_gui.core.evaluation.pool import Pool, make_pool
from cfbatch_gui.core.evaluation.runs import Run
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.records import disagreeing, newest
from cfbatch_gui.core.judgements.scales import USUAL, Scale
from cfbatch_gui.core.judgements.session import Shown
from cfbatch_gui.core.judgements.shelf import USUAL_NAME, Shelf


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair to which judges gave different grades; `grades` are those of each judge."""

    shown: Shown
    grades: tuple[tuple[str, int], ...]


class JobJudgements:
    """`used_name` returns the name of the book that jobs are measured by, "" for the usual one. Methods are blocking
    and may be called from any thread.
    """

    def __init__(self, shelf: Shelf, used_name: Callable[[], str], *, clock: Callable[[], float]) -> None:
        self.shelf, self._used_name, self._clock = shelf, used_name, clock

    def used_name(self) -> str:
        """The name of the book in use, which may not exist yet."""
        return self._used_name() or USUAL_NAME

    def book_in_use(self) -> Book | None:
        """The book in use, None if there is none. Raises DataError."""
        name = self.used_name()
        return self.shelf.book(name) if self.shelf.has(name) else None

    def check(self) -> tuple[str, ...]:
        """Open the book in use; sentences about what was found damaged, and could not be opened."""
        try:
            book = self.book_in_use()
        except UserError as error:
            return (error.message,)
        return book.damage if book is not None else ()

    def grades(self) -> BookGrades | None:
        """The judged pairs of the book in use, None if there is none. Raises DataError."""
        book = self.book_in_use()
        return read_book_grades(book) if book is not None else None

    def book_for(self, name: str, scale: Scale = USUAL) -> Book:
        """The book with this name, made if there is none. Raises UsageError, DataError."""
        return self.shelf.book_or_new(name or self.used_name(), scale)

    def keep_labels(self, run: Run) -> int:
        """Put the labels of a job into the book in use, "from file"; how many were new. Raises DataError, DiskFull.

        Called at the latest before a job is deleted, so that no judgement goes with it.
        """
        if not has_label(run).any() and not run.outside:
            return 0
        return self.book_for("").add_new(label_judgements(run, time=self._clock()))

    def pool(self, runs: Sequence[Run], book: Book | None, *, judge: str, k: int, seed: int = 1) -> Pool:
        """What this judge has to judge in the first k of these runs. Raises DataError."""
        return make_pool(runs, join(runs), book, judge=judge, k=k, seed=seed)


def disagreements(book: Book) -> tuple[Disagreement, ...]:
    """The pairs about which people disagree and that nobody settled. Raises DataError."""
    records, subjects = book.contents()
    names = book.judges()
    found: dict[tuple[int, int], list[tuple[str, int]]] = {}
    for record in disagreeing(newest(records)):
        grade = (names[int(record["judge"])], int(record["grade"]))
        found.setdefault((int(record["query"]), int(record["document"])), []).append(grade)
    return tuple(
        Disagreement(Shown(subjects[query], subjects[document]), tuple(grades))
        for (query, document), grades in found.items()
    )
