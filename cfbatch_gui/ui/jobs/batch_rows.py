"""The table of batches: the state of each, since when it has it, and when it is checked next. Details has their ids."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.state_names import (
    AnswerPlace,
    StateWords,
    batch_words,
    is_collected,
    place_words,
    words_of_batch,
)
from cfbatch_gui.ui.tables.table_view import Column, Memory, Rows, TableView
from cfbatch_gui.ui.widgets import Role

_KNOWN_WORDS = ("", "queued", "running")


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A batch as it is shown at a moment; rows that are equal to those before are not painted again."""

    number: int
    texts: int
    bytes: int
    state: StateWords
    note: str
    note_role: Role
    time: str
    last_answer: str
    next_check: str


def batch_row(
    batch: Batch, *, paused: bool, now: float, in_collected_job: bool = False, next_look: float | None = None
) -> BatchRow:
    """The row of a batch at `now`, in seconds since 1970. While the job is paused, it has no next check.

    `next_look` is when the user's account is asked next what it has of the job, in seconds since 1970.
    """
    note = said(batch.error)
    role: Role = "attention"
    if not note and batch.is_in_account:
        note, role = display.size(batch.stored_bytes), "quiet"
    if not note and batch.state.is_at_service and batch.service_word not in _KNOWN_WORDS:
        note = tr("The service says: {word}").format(word=batch.service_word)
    return BatchRow(
        batch.number,
        batch.texts,
        batch.bytes,
        words_of_batch(batch, in_collected_job=in_collected_job),
        note,
        role,
        _time(batch, now),
        display.age(batch.checked_at, now) if batch.checked_at else "",
        _next_check(batch, next_look, paused=paused, now=now),
    )


def _time(batch: Batch, now: float) -> str:
    if batch.state is BatchState.PLANNED:
        return ""
    if batch.state is BatchState.DONE:
        return tr("took {time}").format(time=display.duration(max(1.0, batch.changed_at - batch.sent_at)))
    return display.short_duration(now - batch.changed_at)


def _next_check(batch: Batch, next_look: float | None, *, paused: bool, now: float) -> str:
    if batch.state.is_final or batch.state is BatchState.OUTCOME_UNKNOWN:
        return "–"
    is_asked_by_account = batch.is_handed_over and not batch.is_in_account
    moment = next_look if is_asked_by_account else batch.next_check_at or None
    if paused or moment is None:
        return ""
    left = moment - now
    if left < 1:
        return tr("now")
    return tr("in {time}").format(time=display.duration(left) if left < 60 else display.short_duration(left))


def _number(count: int) -> str:
    return display.number(count) if count else "–"  # not known: the batch was sent by another program


def _size(count: int) -> str:
    return display.size(count) if count else "–"


def _columns() -> tuple[Column[BatchRow], ...]:
    return (
        Column(tr("Batch"), lambda row: row.number, key="batch", align="right", width=66, sortable=False),
        Column(
            tr("Texts"),
            lambda row: row.texts,
            _number,
            key="texts",
            align="right",
            width=76,
            gives_way=True,
            sortable=False,
        ),
        Column(tr("Size"), lambda row: row.bytes, _size, key="size", width=84, hidden=True, sortable=False),
        Column(
            tr("State"),
            lambda row: row.state.text,
            key="state",
            width=150,
            widest=[words.text for words in (*map(batch_words, BatchState), *map(place_words, AnswerPlace))],
            icon=lambda row: (row.state.icon, row.state.role),
            colour=lambda row: row.state.role,
            sortable=False,
        ),
        Column(
            tr("Note"),
            lambda row: row.note,
            key="note",
            stretch=True,
            colour=lambda row: row.note_role,
            sortable=False,
        ),
        Column(
            tr("Time"),
            lambda row: row.time,
            key="time",
            width=110,
            widest=[tr("took {time}").format(time=display.duration(3599))],
            sortable=False,
            tip=tr("How long it took, or how long it has been in its state."),
        ),
        Column(tr("Last answer"), lambda row: row.last_answer, key="answer", width=110, hidden=True, sortable=False),
        Column(tr("Next check"), lambda row: row.next_check, key="next", width=98, gives_way=True, sortable=False),
    )


class BatchTable(TableView):
    """The batches of one job, as they are at a moment."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        memory: Memory | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("batches", memory=memory, inset=True, parent=parent)
        self._clock = clock
        self.setAccessibleName(self.tr("Batches"))
        self.batches: Rows[BatchRow] = Rows(_columns(), key=lambda row: row.number, parent=self)
        self.show_rows(self.batches)

    def show_job(self, job: Job, *, next_look: float | None = None) -> None:
        """Show the job's batches as they are at this moment; `next_look` as of `batch_row`."""
        now, paused, collected = self._clock(), bool(job.paused_because), is_collected(job)
        self.batches.set_rows(
            [
                batch_row(batch, paused=paused, now=now, in_collected_job=collected, next_look=next_look)
                for batch in job.batches
            ]
        )
