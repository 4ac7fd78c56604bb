"""What is new in a draft's file, and the choices about it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from PySide6.QtCore import QCoreApplication, QObject, Signal

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.jobs.plan.preflight import Preflight, reuse_sentence
from cfbatch_gui.core.jobs.reuse import NOTHING
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.versions import (
    Change,
    ComparedRow,
    DraftVersion,
    VersionRow,
    choose_predecessor,
    look_at_version,
    new_words,
)
from cfbatch_gui.ui.display import number, one_line, plural
from cfbatch_gui.ui.inputs.draft_reading import DraftReading, DraftStates
from cfbatch_gui.ui.tables.cells import CellDelegate
from cfbatch_gui.ui.tables.table_rows import Column, Index, PagedRows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import ROW_HEIGHT, SMALL, scaled
from cfbatch_gui.ui.widgets import CheckBox, Flow, Label, LinkButton, MenuButton, SectionCard, Tabs, boxed, row
from cfbatch_gui.ui.widgets.text_panel import spans_in_units

COLOURS = {Change.ADDED: "done", Change.CHANGED: "accent", Change.MOVED: "accent"}
MOST_COMPARED = 1_000  # characters of the text before; of the new one as many as are painted
_NOT_READ = VersionRow(0, "", "", "", "", 0)


def change_words(change: Change) -> str:
    return {
        Change.ADDED: _tr("new"),
        Change.CHANGED: _tr("changed"),
        Change.MOVED: _tr("other ID"),
        Change.UNCHANGED: _tr("as before"),
        Change.REMOVED: _tr("gone"),
    }[change]


def version_columns(*, has_ids: bool, has_queries: bool, has_sources: bool) -> tuple[Column[ComparedRow], ...]:
    change: Column[ComparedRow] = Column(
        _tr("Change"),
        lambda each: each.change,
        change_words,
        key="change",
        width=96,
        colour=lambda each: COLOURS.get(each.change, "quiet"),
        widest=tuple(map(change_words, Change)),
    )
    return (
        change,
        Column(_tr("ID"), lambda each: each.row.id, key="id", width=110, hidden=not has_ids),
        Column(_tr("Query"), lambda each: each.row.query, key="query", width=200, hidden=not has_queries),
        Column(_tr("Text"), lambda each: each.row.text, key="text", stretch=True),
        Column(
            _tr("Taken from"), lambda each: each.source, key="source", width=150, hidden=not has_sources, gives_way=True
        ),
    )


def unread_rows(count: int) -> list[ComparedRow]:
    return [ComparedRow(_NOT_READ, Change.UNCHANGED)] * count


class NewWordsDelegate(CellDelegate):
    def marks(self, index: Index, shown: str) -> list[tuple[int, int]]:
        model = index.model()
        if not isinstance(model, PagedRows) or model.columns[index.column()].name != "text":
            return []
        before: str = model.row(index.row()).before
        if not before:
            return []
        places = new_words(shown.removesuffix("…"), one_line(before, MOST_COMPARED))
        return spans_in_units(shown, places)


def _tr(text: str) -> str:
    return QCoreApplication.translate("inputs", text)


SENT, TAKEN, MOVED, GONE = "sent", "taken", "moved", "gone"
_MOST_OFFERED = 20  # jobs in the menu
_ROWS_SHOWN = 6
_LONGEST_NAME = 60  # characters of a job's name


class VersionSection(SectionCard):
    """Hidden while there is neither a version before nor a result to take."""

    def __init__(self, versions: "DraftVersions") -> None:
        super().__init__("", foldable=True)
        self._versions = versions
        self._version: DraftVersion | None = None
        self._items: np.ndarray[tuple[int], np.dtype[np.int64]] = np.zeros(0, np.int64)
        self.compare = MenuButton(self.tr("Compare with…"))
        self.compare.setToolTip(self.tr("Choose the job whose file this one is the new version of"))
        self.actions_row.addWidget(self.compare)
        self.sentence = Label("", "quiet", wrap=True)
        self.switch = CheckBox(self.tr("Take what earlier jobs have, and send only the rest"))
        self.switch.clicked.connect(versions.choose_reuse)
        self.tabs = Tabs(margin=0)
        self.tabs.setAccessibleName(self.tr("Which rows are shown"))
        for key in (SENT, TAKEN, MOVED, GONE):
            self.tabs.add(key, "")
        self.tabs.chosen.connect(lambda _: self._show_list())
        self.counts = Label("", "quiet")
        self.table = TableView(title=self.tr("Rows of this version of the file"), inset=True)
        self.table.setItemDelegate(NewWordsDelegate(self.table))
        self.table.setFixedHeight(scaled(ROW_HEIGHT) * (_ROWS_SHOWN + 1))
        self.anew = LinkButton(self.tr("Send these again all the same"), on_click=self._choose_anew)
        words = self.tr("Take back what was chosen to be sent again")
        self.back = LinkButton(words, on_click=lambda: versions.send_anew((), anew=False))
        self.content.setSpacing(SMALL)
        links = boxed(Flow(self.counts, self.anew, self.back))
        for part in (self.sentence, boxed(row(self.switch, None)), self.tabs, links, self.table):
            self.content.addWidget(part)
        self.hide()

    def show_job(self, job: Job, found: Preflight | None) -> None:
        version = self._versions.version(job.id)
        is_other = version is not self._version
        self._version = version
        predecessor = version.predecessor if version else None
        is_needed = version is not None and found is not None and (predecessor or found.reuse or not job.options.reuse)
        if not is_needed or version is None or found is None:
            self.hide()
            return
        title = self.tr("What earlier jobs have")
        if predecessor is not None:
            title = self.tr("A newer version of “{name}”").format(name=one_line(predecessor.name, _LONGEST_NAME))
        self.set_title(title)
        self.set_done(True)
        words = said(reuse_sentence(found, job.kind))
        if not job.options.reuse:
            words = self.tr("Everything is sent, also what earlier jobs have.")
        self.sentence.setText(words or self.tr("No text of this version has a result in an earlier job."))
        self.switch.setChecked(job.options.reuse)
        self.set_summary(self._folded_words(version))
        self._fill_menu(version, job, self._versions.jobs())
        self.show()
        if is_other:
            self._show_tabs(version)
            self._show_list()

    def _folded_words(self, version: DraftVersion) -> str:
        return self.tr("{sent} to send · {taken} as before").format(
            sent=number(len(version.sent)), taken=number(len(version.taken))
        )

    def _fill_menu(self, version: DraftVersion, job: Job, others: Sequence[Job]) -> None:
        self.compare.menu().clear()
        chosen = version.predecessor.id if version.predecessor else ""
        offered = [each for each in others if _can_be_chosen(each, job)]
        for each in offered[:_MOST_OFFERED]:
            name = one_line(each.name, _LONGEST_NAME).replace("&", "&&")
            self.compare.add(name, partial(self._versions.compare_with, each.id), checked=each.id == chosen)
        self.compare.add(self.tr("With none"), partial(self._versions.compare_with, ""), checked=not chosen)

    def _show_tabs(self, version: DraftVersion) -> None:
        titles = {
            SENT: plural(len(version.sent), "{n} to send", "{n} to send"),
            TAKEN: plural(len(version.taken), "{n} as before", "{n} as before"),
            MOVED: plural(len(version.moved), "{n} under another ID", "{n} under another ID"),
            GONE: plural(len(version.removed), "{n} gone", "{n} gone"),
        }
        counts = {SENT: 1, TAKEN: 1, MOVED: len(version.moved), GONE: len(version.removed)}
        for key, title in titles.items():
            self.tabs.set_title(key, title)
            self.tabs.set_shown(key, counts[key] > 0)
        self.tabs.updateGeometry()

    def _show_list(self) -> None:
        version = self._version
        if version is None:
            return
        key = self.tabs.current()
        self._items = {SENT: version.sent, TAKEN: version.taken, MOVED: version.moved, GONE: version.removed}.get(
            key, version.sent
        )
        first = self._fetch(0, min(50, len(self._items)))
        columns = version_columns(
            has_ids=any(each.row.id for each in first),
            has_queries=any(each.row.query for each in first),
            has_sources=key in (TAKEN, MOVED),
        )
        self.table.show_rows(PagedRows(columns, count=len(self._items), fetch=self._fetch, parent=self.table))
        self.counts.setText(self._counts_words(version) if key == SENT else "")
        self.counts.setVisible(bool(self.counts.text()))
        self.anew.setVisible(key == TAKEN and len(self._items) > 0)
        self.back.setVisible(key == SENT and version.chosen_anew > 0)

    def _counts_words(self, version: DraftVersion) -> str:
        if version.predecessor is None:
            return ""
        new, changed = version.count_sent(Change.ADDED), version.count_sent(Change.CHANGED)
        words = [plural(new, "{n} new", "{n} new"), plural(changed, "{n} changed", "{n} changed")]
        if version.chosen_anew:
            words.append(plural(version.chosen_anew, "{n} sent again", "{n} sent again"))
        return " · ".join(words)

    def _fetch(self, start: int, stop: int) -> list[ComparedRow]:
        version, items = self._version, self._items[start:stop].tolist()
        if version is None:
            return unread_rows(len(items))
        read = version.removed_rows if self.tabs.current() == GONE else version.rows
        try:
            found = read(items)
        except DataError:  # its job was deleted meanwhile
            return unread_rows(len(items))
        return found if len(found) == len(items) else unread_rows(len(items))

    def _choose_anew(self) -> None:
        chosen = self.table.selected_rows()
        items = self._items[chosen] if chosen else self._items
        self._versions.send_anew(tuple(items.tolist()), anew=True)


def _can_be_chosen(other: Job, job: Job) -> bool:
    return other.kind is job.kind and other.is_sent and other.id != job.id and not other.texts_forgotten_at


class DraftVersions(QObject):
    """What is known of each draft, by what it was examined to be; `changed` brings a draft's id."""

    changed = Signal(str)

    def __init__(self, program: Program, drafts: DraftStates, reading: DraftReading) -> None:
        super().__init__(drafts)
        self._program, self._drafts, self._reading = program, drafts, reading
        self._known: dict[str, tuple[Preflight, DraftVersion | None]] = {}

    def version(self, job_id: str) -> DraftVersion | None:
        """It is looked for when it is not known yet."""
        found = self._drafts.state(job_id).preflight
        if found is None:
            return None
        known = self._known.get(job_id)
        if known is None or known[0] is not found:
            self._known[job_id] = (found, known[1] if known else None)
            if any(each.is_sent and each.id != job_id for each in self._program.ledger.jobs()):
                self._drafts.tasks.start(f"version {job_id}", self._look(job_id, found))
        return self._known[job_id][1]

    def jobs(self) -> Sequence[Job]:
        """All jobs, newest first."""
        return self._program.ledger.jobs()

    def choose_reuse(self, reuse: bool) -> None:
        job_id = self._drafts.current
        options = self._drafts.job(job_id).options
        self._reading.change(job_id, options=replace(options, reuse=reuse))

    def compare_with(self, other: str) -> None:
        job_id = self._drafts.current
        self._drafts.tasks.start(f"compare {job_id}", self._compare(job_id, other))

    def send_anew(self, items: Sequence[int], anew: bool) -> None:
        """Without `anew` take back all that was chosen so."""
        job_id = self._drafts.current
        self._drafts.tasks.start(f"anew {job_id}", self._send_anew(job_id, items, anew))

    async def _look(self, job_id: str, found: Preflight) -> None:
        reusable = found.reuse.found if found.reuse else NOTHING
        job, jobs = self._drafts.job(job_id), self._program.ledger.jobs()
        version = await asyncio.to_thread(look_at_version, job, jobs, self._program.folder, reusable)
        if self._drafts.state(job_id).preflight is found:
            self._known[job_id] = (found, version)
            self.changed.emit(job_id)

    async def _compare(self, job_id: str, other: str) -> None:
        await asyncio.to_thread(choose_predecessor, self._program.folder(job_id), other)
        found = self._drafts.state(job_id).preflight
        if found is not None:
            await self._look(job_id, found)

    async def _send_anew(self, job_id: str, items: Sequence[int], anew: bool) -> None:
        await asyncio.to_thread(self._program.drafts.send_anew, job_id, items, anew=anew)
        self._reading.start(job_id, self._drafts.state(job_id))
