"""What is new in a draft's file, and the choices about it."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import islice

import numpy as np

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.jobs.plan.preflight import reuse_sentence
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.versions import Change, DraftVersion, VersionRow, new_words
from cfbatch_gui.ui.inputs.draft_state import DraftState
from cfbatch_gui.ui.inputs.drafts import Drafts
from cfbatch_gui.ui.tables.cells import CellDelegate
from cfbatch_gui.ui.tables.table_rows import Column, Index, PagedRows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import ROW_HEIGHT, SMALL, scaled
from cfbatch_gui.ui.widgets import CheckBox, Flow, Label, LinkButton, MenuButton, SectionCard, Tabs, boxed, row
from cfbatch_gui.ui.widgets.marks import Mark, mark_format, spans_in_units
from cfbatch_gui.words.figures import number, one_line, plural
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.versions import CHANGES

_COLOURS = {Change.ADDED: "done", Change.CHANGED: "accent", Change.MOVED: "accent"}
MOST_COMPARED = 1_000  # characters of the text before; of the new one as many as are painted
_NOT_READ = VersionRow(0, "", "", "", "", 0)


def _columns(first: Sequence[VersionRow], *, has_sources: bool) -> tuple[Column[VersionRow], ...]:
    """Columns of ids and queries are shown if the first rows have any."""
    has_ids, has_queries = any(each.id for each in first), any(each.query for each in first)
    change: Column[VersionRow] = Column(
        tr("Change", "column"),
        lambda each: each.change,
        lambda change: said(CHANGES[change]),
        width=96,
        colour=lambda each: _COLOURS.get(each.change, "quiet"),
        widest=[*map(said, CHANGES.values())],
    )
    return (
        change,
        Column(tr("ID"), lambda each: each.id, width=110, least=56, hidden=not has_ids),
        Column(tr("Query"), lambda each: each.query, width=200, least=80, hidden=not has_queries),
        Column(tr("Text"), lambda each: each.text, stretch=True),
        Column(tr("Taken from"), lambda each: each.source, width=150, hidden=not has_sources, gives_way=True),
    )


class NewWordsDelegate(CellDelegate):
    def marks(self, index: Index, shown: str) -> list[Mark]:
        model = index.model()
        if not isinstance(model, PagedRows) or not model.columns[index.column()].stretch:  # the texts
            return []
        before: str = model.row(index.row()).before
        if not before:
            return []
        places = new_words(shown.removesuffix("…"), one_line(before, MOST_COMPARED))
        return [(*span, mark_format()) for span in spans_in_units(shown, places)]


SENT, TAKEN, MOVED, GONE = "sent", "taken", "moved", "gone"
_MOST_OFFERED = 20  # jobs in the menu
_ROWS_SHOWN = 6
_LONGEST_NAME = 60  # characters of a job's name


class VersionSection(SectionCard):
    """Hidden while there is neither a version before nor a result to take."""

    def __init__(self, drafts: Drafts) -> None:
        super().__init__("", foldable=True)
        self._drafts = drafts
        self._version: DraftVersion | None = None
        self._items: np.ndarray[tuple[int], np.dtype[np.int64]] = np.zeros(0, np.int64)
        tip = tr("Choose the job whose file this one is the new version of")
        self.compare = MenuButton(tr("Compare with…"), tip=tip)
        self.actions_row.addWidget(self.compare)
        self.sentence = Label("", "quiet", wrap=True)
        self.switch = CheckBox(tr("Take what earlier jobs have, and send only the rest"))
        self.switch.clicked.connect(lambda reuse: drafts.change_options(reuse=reuse))
        self.tabs = Tabs(margin=0)
        self.tabs.setAccessibleName(tr("Which rows are shown"))
        for key in (SENT, TAKEN, MOVED, GONE):
            self.tabs.add(key, "")
        self.tabs.chosen.connect(lambda _: self._show_list())
        self.counts = Label("", "quiet")
        self.table = TableView(title=tr("Rows of this version of the file"), inset=True)
        self.table.setItemDelegate(NewWordsDelegate(self.table))
        self.anew = LinkButton(tr("Send these again all the same"), on_click=self._choose_anew)
        words = tr("Take back what was chosen to be sent again")
        self.back = LinkButton(words, on_click=lambda: drafts.send_anew((), anew=False))
        self.content.setSpacing(SMALL)
        links = boxed(Flow(self.counts, self.anew, self.back))
        for part in (self.sentence, boxed(row(self.switch, None)), self.tabs, links, self.table):
            self.content.addWidget(part)
        self.set_done(True)
        self.hide()

    def show_state(self, state: DraftState, job: Job) -> None:
        version, found = state.version, state.preflight
        is_other, self._version = version is not self._version, version
        predecessor = version.predecessor if version else None
        if version is None or found is None or not (predecessor or found.reused or not job.options.reuse):
            self.hide()
            return
        title = tr("What earlier jobs have")
        if predecessor is not None:
            title = tr("A newer version of “{name}”").format(name=one_line(predecessor.name, _LONGEST_NAME))
        self.set_title(title)
        words = said(reuse_sentence(found, job.kind))
        if not job.options.reuse:
            words = tr("Everything is sent, also what earlier jobs have.")
        self.sentence.setText(words or tr("No text of this version has a result in an earlier job."))
        self.switch.setChecked(job.options.reuse)
        summary = tr("{sent} to send · {taken} as before")
        self.set_summary(summary.format(sent=number(len(version.sent)), taken=number(len(version.taken))))
        self._fill_menu(job, predecessor.id if predecessor else "")
        self.show()
        if is_other:
            self._show_tabs(version)
            self._show_list()

    def _fill_menu(self, job: Job, chosen: str) -> None:
        self.compare.menu().clear()
        others = (each for each in self._drafts.program.ledger.jobs() if each.is_sent and each.id != job.id)
        offered = (each for each in others if each.kind is job.kind and not each.texts_forgotten_at)
        for each in islice(offered, _MOST_OFFERED):  # newest first
            name = one_line(each.name, _LONGEST_NAME).replace("&", "&&")
            self.compare.add(name, partial(self._drafts.compare_with, each.id), checked=each.id == chosen)
        self.compare.add(tr("With none"), partial(self._drafts.compare_with, ""), checked=not chosen)

    def _show_tabs(self, version: DraftVersion) -> None:
        found = version.differences
        sent, taken, moved, gone = map(len, (version.sent, version.taken, found.moved, found.removed))
        for key, title, is_shown in (
            (SENT, plural(sent, "{n} to send", "{n} to send"), True),
            (TAKEN, plural(taken, "{n} as before", "{n} as before"), True),
            (MOVED, plural(moved, "{n} under another ID", "{n} under another ID"), moved > 0),
            (GONE, plural(gone, "{n} gone", "{n} gone"), gone > 0),
        ):
            self.tabs.set_title(key, title)
            self.tabs.set_shown(key, is_shown)
        self.tabs.updateGeometry()

    def _show_list(self) -> None:
        version, key = self._version, self.tabs.current()
        if version is None:
            return
        lists = {TAKEN: version.taken, MOVED: version.differences.moved, GONE: version.differences.removed}
        self._items = lists.get(key, version.sent)
        columns = _columns(self._fetch(0, min(50, len(self._items))), has_sources=key in (TAKEN, MOVED))
        self.table.show_rows(PagedRows(columns, count=len(self._items), fetch=self._fetch, parent=self.table))
        self.table.setFixedHeight(scaled(ROW_HEIGHT) * (min(len(self._items), _ROWS_SHOWN) + 1))
        self.table.setVisible(len(self._items) > 0)
        self.counts.say(self._counts_words(version) if key == SENT else "")
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

    def _fetch(self, start: int, stop: int) -> list[VersionRow]:
        version, items = self._version, self._items[start:stop].tolist()
        found: list[VersionRow] = []
        if version is not None:
            with suppress(DataError):  # its job was deleted meanwhile
                found = version.removed_rows(items) if self.tabs.current() == GONE else version.rows(items)
        return found if len(found) == len(items) else [_NOT_READ] * len(items)

    def _choose_anew(self) -> None:
        chosen = self.table.selected_rows()
        self._drafts.send_anew((self._items[chosen] if chosen else self._items).tolist(), anew=True)
