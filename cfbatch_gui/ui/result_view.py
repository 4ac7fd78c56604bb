"""The interface between the page of a job and the views of its results, which do not import each other."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import tr

_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class RowChoice:
    """Some of a job's rows that can be exported alone; with `is_proposed` an export begins with them."""

    name: str
    items: frozenset[int]
    is_proposed: bool = False

    def words(self) -> str:
        name = figures.one_line(self.name, _LONGEST_NAME)
        return tr("These {n} · {name}").format(n=figures.number(len(self.items)), name=name)


def row_choices(*named: tuple[str, Iterable[int]], proposed: str = "") -> tuple[RowChoice, ...]:
    found: dict[frozenset[int], RowChoice] = {}
    for name, items in named:
        rows = frozenset(items)
        if rows:
            found.setdefault(rows, RowChoice(name, rows, is_proposed=name == proposed))
    return tuple(found.values())


class ResultView(QWidget):
    tasks: Tasks

    # ABCMeta cannot be combined with Qt's metaclass; the type checker treats the method as abstract without it.
    @abstractmethod
    def show_job(self, job: Job) -> None:
        """Show this job or its changes; for the same job, scrolling, selection and typed text are kept."""

    def row_choices(self) -> tuple[RowChoice, ...]:
        return ()
