"""What can be done with several jobs at once, as entries of a menu."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.widgets import add_action


@dataclass(frozen=True, slots=True)
class SelectionCommands:
    """The commands on a selection, each called with the ids of the jobs it concerns."""

    compare: Callable[[list[str]], None]
    tag: Callable[[list[str]], None]
    archive: Callable[[list[str]], None]
    delete: Callable[[list[str]], None]


def fill_menu(menu: QMenu, jobs: Sequence[Job], commands: SelectionCommands) -> None:
    """Add what can be done with these jobs, which are several. An entry counts the jobs that it concerns."""
    everything = [job.id for job in jobs]
    rankings = [job.id for job in jobs if can_be_compared(job)]
    if len(rankings) > 1:
        text = tr("Compare these {n}…").format(n=display.number(len(rankings)))
        add_action(menu, text, lambda: commands.compare(rankings), "git-compare")
    text = display.plural(len(everything), "Tag {n} job…", "Tag {n} jobs…")
    add_action(menu, text, lambda: commands.tag(everything), "tag")
    put_away = [job.id for job in jobs if job.is_sent and not job.archived]
    archived = [job.id for job in jobs if job.archived]
    if put_away:
        text = display.plural(len(put_away), "Archive {n} job", "Archive {n} jobs")
        add_action(menu, text, lambda: commands.archive(put_away), "archive")
    elif archived:
        text = display.plural(len(archived), "Take {n} job out of the archive", "Take {n} jobs out of the archive")
        add_action(menu, text, lambda: commands.archive(archived), "archive")
    menu.addSeparator()
    text = display.plural(len(everything), "Delete {n} job", "Delete {n} jobs")
    delete = add_action(menu, text, lambda: commands.delete(everything), "trash-2")
    delete.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))


def can_be_compared(job: Job) -> bool:
    """Whether the job is a ranking of which something came back."""
    return job.kind is Kind.RANK and job.has_results
