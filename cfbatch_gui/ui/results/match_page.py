"""What the pages of matches and of categories share: rows by their best candidates, from a threshold on that is kept
with the job, and decisions about them by key; both are taken back by undo.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.categories import read_by_purpose
from cfbatch_gui.core.results.list_rows import ListColumns, ListRow
from cfbatch_gui.core.results.matches import Decision, Matches, MatchState
from cfbatch_gui.core.results.text_search import items_with
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.results.results_page import TYPING, ResultsPage, Version
from cfbatch_gui.ui.tables.table_rows import Column, PagedRows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.widgets.threshold import ScoreSlider
from cfbatch_gui.words.figures import worded
from cfbatch_gui.words.languages import tr


class MatchRow(NamedTuple):
    at: int  # its index among the rows of A
    a: ListRow
    b: ListRow | None  # what is shown beside it, also where it is no match


class MatchPage(ResultsPage[Matches | None]):
    """`review_wanted` brings the id of the job whose rows are to be checked, what is shown of it, and some rows or None
    for the doubtful ones; `to_review` how many these are; `changed` the job with other options.
    """

    review_wanted = Signal(str, object, object)
    to_review = Signal(int)
    changed = Signal(object)
    matching_help_wanted = Signal()
    slider: ScoreSlider  # of the threshold, in hundredths

    def __init__(self, program: Program, notices: Notices, icon: str, table: TableView, hint: str) -> None:
        super().__init__(program, notices, icon)
        self.matches: Matches | None = None
        self._shown_rows: NDArray[np.int64] = np.zeros(0, np.int64)  # of A, in the order of the table
        self._found: NDArray[np.bool_] | None = None  # which rows of A have what is looked for, or what they got
        self._row = 0  # the chosen one
        self.table = table
        self.table.picked.connect(self._picked)
        self.rows: PagedRows[MatchRow] = PagedRows((), count=0, fetch=self._fetch, parent=self)
        self.find_field = self.add_search(hint, self.table)

    def add_keys(self, area: QWidget, take: Callable[[int], object], take_none: Callable[[], object]) -> None:
        """Enter in the table and digits in this area take a candidate by its place, 0 none."""
        for key in ("Return", "Enter"):
            accept = QShortcut(QKeySequence(key), self.table, partial(take, 0))
            accept.setContext(Qt.ShortcutContext.WidgetShortcut)  # the constructor's argument for it is ignored
        for digit in range(10):
            shortcut = QShortcut(QKeySequence(str(digit)), area, partial(take, digit - 1) if digit else take_none)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)

    # For the pages

    def title(self) -> str:
        """What is shown is called so."""
        raise NotImplementedError

    def columns(self, read: Matches) -> tuple[Column[MatchRow], ...]:
        raise NotImplementedError

    def fill(self) -> None:
        """Show the rows in the table that are wanted now."""
        raise NotImplementedError

    def show_matches(self, read: Matches) -> None:
        """What the threshold or a decision has changed; the table keeps its rows."""
        raise NotImplementedError

    def show_row(self, match: MatchRow) -> None:
        raise NotImplementedError

    def review(self, rows: Sequence[int] | None = None) -> None:
        if self.shown is not None:
            self.review_wanted.emit(self.shown.id, self.matches, rows)

    # Reading

    def version(self, job: Job) -> Version:
        """Each row of B once goes by the threshold; else another one changes nothing that was read."""
        matching, judgements = job.options.matching, self.program.judgements
        read_with = matching if matching.each_once else replace(matching, threshold=None)
        return (*super().version(job), read_with, job.options.sorting.categories, judgements.size())

    def begin(self, job: Job) -> None:
        super().begin(job)
        self.matches, self._found, self._row = None, None, 0
        self.find_field.reset()
        self.to_review.emit(0)

    def show_job(self, job: Job) -> None:
        super().show_job(job)
        if not (self.slider.isSliderDown() or self.tasks.is_running("keep")):  # which is later than the job's
            self._show_threshold(job.options.matching.threshold)

    async def read(self, job: Job) -> Matches | None:
        folder, decisions = self.program.folder(job.id), self.program.decisions_of(job)
        has_only_decisions = self.loaded[:-1] == self.version(job)[:-1] and not job.options.matching.each_once
        if self.matches is not None and has_only_decisions:
            return await in_thread(self.matches.with_decisions, decisions.find)
        return await self.worked_out(
            tr("Comparing every row with every other…"),
            lambda tell: read_by_purpose(folder, job, decisions.find, progress=tell),
        )

    async def find_text(self, text: str) -> None:
        if (read := self.matches) is None:
            return
        self._found = None
        if text:
            items = await in_thread(items_with, read.folder, text)
            in_b = (read.first >= 0) & np.isin(read.items_b[read.first], items)
            self._found = np.isin(read.items_a, items) | in_b
        self.fill()

    # The table

    @property
    def now(self) -> Matches:
        assert self.matches is not None  # noqa: S101 - rows are there only after it was read
        return self.matches

    def _fetch(self, start: int, stop: int) -> Sequence[MatchRow]:
        """Also while painting, where no task would report that rows cannot be read: then empty ones, after a notice."""
        read, rows = self.now, self._shown_rows[start:stop]
        beside = np.where(read.chosen[rows] >= 0, read.chosen[rows], read.first[rows])
        try:
            a, b = read.rows_a(rows.tolist()), read.rows_b(beside[beside >= 0].tolist())
        except UserError as error:
            self.notices.show_error(error)
            return [MatchRow(index, ListRow(0, "", "", 0, (), ""), None) for index in rows.tolist()]
        of_b = iter(b)
        return [
            MatchRow(index, each, next(of_b) if other >= 0 else None)
            for index, each, other in zip(rows.tolist(), a, beside.tolist(), strict=True)
        ]

    def is_without(self, match: MatchRow) -> bool:
        return bool(self.now.chosen[match.at] < 0)

    def score(self, match: MatchRow) -> float | None:
        chosen = int(self.now.chosen[match.at])
        score = self.now.score_of(match.at, chosen) if chosen >= 0 else self.now.scores[match.at].item()
        return or_none(score)

    def show_columns(self, read: Matches) -> None:
        self.rows = PagedRows(self.columns(read), count=0, fetch=self._fetch, parent=self)
        self.table.show_rows(self.rows)

    def show_only(self, rows: NDArray[np.int64]) -> None:
        """Show these rows, and choose the one that was, or the one in its place."""
        chosen, place = self._row, max(0, self.table.currentIndex().row())
        self._shown_rows = rows
        self.rows.refresh(len(rows))
        if len(rows):
            at = np.flatnonzero(rows == chosen)
            self.table.selectRow(int(at[0]) if len(at) else min(place, len(rows) - 1) * self.goes_on)

    goes_on = False  # to the next row where the chosen one is gone, else to the first

    def _picked(self, index: int) -> None:
        match = self.rows.row(index)
        self._row = match.at
        if self.shown is not None:
            self.show_row(match)

    # The threshold

    def threshold_moved(self, threshold: float | None) -> None:
        if self.matches is not None:
            self._show_threshold(threshold)
            if not self.slider.isSliderDown():
                self.tasks.start("keep", self._keep(threshold))

    def _show_threshold(self, threshold: float | None) -> None:
        if (read := self.matches) is None:
            return
        wanted = read.baseline.proposed if threshold is None else threshold
        if wanted != read.threshold:
            self.show_changed(read.with_threshold(wanted))

    async def _keep(self, threshold: float | None) -> None:
        """Keep the threshold with the job once it rests, and then show the rows that are so; until then none moves."""
        await asyncio.sleep(TYPING)
        job, before = self.shown, self.shown.options.matching.threshold if self.shown is not None else None
        if job is not None and before != threshold:
            await self._use(job.id, threshold)
            self.offer_undo(tr("Undo the threshold"), "keep", partial(self._use, job.id, before))
        self.fill()

    def offer_undo(self, words: str, name: str, undo: Callable[[], Coroutine[Any, Any, None]]) -> None:
        def act() -> None:
            self.tasks.start(name, undo())

        self.notices.undos.offer(words, act)

    async def _use(self, job_id: str, threshold: float | None) -> None:
        matching = replace(self.program.ledger.job(job_id).options.matching, threshold=threshold)
        if await self.use(job_id, matching=matching):
            self._show_threshold(threshold)
            self.show_changed(self.now)

    async def use(self, job_id: str, **options: Any) -> bool:
        """Change options of a job, also of one that is not shown any more, for which this is False."""
        job = await self.program.store.on_disk(partial(self.program.drafts.use_for, job_id, **options))
        is_shown = self.shown is not None and self.shown.id == job_id
        if is_shown:
            self.shown = job
        self.changed.emit(job)
        return is_shown

    def show_changed(self, read: Matches) -> None:
        self.matches = read
        self.show_matches(read)
        self.to_review.emit(0 if read.is_related else read.counts()[MatchState.CHECK])
        self.table.viewport().update()
        if 0 <= self.table.currentIndex().row() < self.rows.rowCount():
            self._picked(self.table.currentIndex().row())

    # Decisions

    def decide(self, other: int | None) -> None:
        """A row of B for the chosen row, -1 for none of them, None for undecided."""
        can_be = self.matches is not None and self.matches.can_be_decided and bool(self.matches.options(self._row))
        if can_be and self.shown is not None and not self.tasks.is_running("decide"):
            self.tasks.start("decide", self._decided(self.shown, self._row, other))

    async def _decided(self, job: Job, index: int, other: int | None) -> None:
        read = self.now
        before, decide = read.decided.get(index), self.program.decisions_of(job).decide
        (a,) = read.rows_a([index])
        decision = None
        if other is not None:
            (b,) = read.rows_b([other if other >= 0 else int(read.candidates.rows[index, 0])])
            decision = Decision(b.text, accepted=other >= 0)
        was = await asyncio.to_thread(decide, a.text, decision)
        self.show_decision(index, other)

        async def take_back() -> None:
            await asyncio.to_thread(decide, a.text, was)
            if self.shown is not None and self.shown.id == job.id and self.matches is not None:
                self.show_decision(index, before)

        self.offer_undo(worded("Undo the decision about row {n}", n=a.row), "decide", take_back)

    def show_decision(self, index: int, other: int | None) -> None:
        self.matches = self.now.with_decision(index, other)
        self.rows.refetch()
        self.show_changed(self.matches)
        if self.shown is None:
            return
        if not self.now.each_once:
            self.loaded = self.version(self.shown)
        self.show_job(self.shown)  # each row of B once: others may get what this one had


def text_title(columns: ListColumns) -> str:
    names = [name for name, role in zip(columns.names, columns.roles, strict=True) if role is Role.TEXT]
    return ", ".join(names) or tr("Text")


def or_none(score: float) -> float | None:
    return None if np.isnan(score) else score


def show_axis(slider: ScoreSlider, read: Matches) -> None:
    unrelated = read.baseline.unrelated
    least = read.scores[np.isfinite(read.scores)].min(initial=min(unrelated, read.threshold))
    with QSignalBlocker(slider):
        slider.show_axis(float(least), unrelated)
