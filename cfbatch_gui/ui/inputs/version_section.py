"""The part of a draft that says what is new in its file: what is sent, what earlier jobs have, and what is gone."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.jobs.plan.preflight import Preflight, reuse_sentence
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.versions.differences import Change
from cfbatch_gui.core.versions.draft_version import ComparedRow, DraftVersion
from cfbatch_gui.ui.display import number, one_line, plural
from cfbatch_gui.ui.inputs.version_rows import NewWordsDelegate, unread_rows, version_columns
from cfbatch_gui.ui.tables.table_rows import PagedRows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import ROW_HEIGHT, SMALL, scaled
from cfbatch_gui.ui.widgets import CheckBox, Flow, Label, LinkButton, MenuButton, SectionCard, Tabs, boxed

SENT, TAKEN, MOVED, GONE = "sent", "taken", "moved", "gone"
_MOST_OFFERED = 20  # jobs in the menu
_ROWS_SHOWN = 6
_LONGEST_NAME = 60  # characters of a job's name


class VersionSection(SectionCard):
    """Shows a `DraftVersion`. It is hidden while there is neither a version before nor a result to take.

    `reuse_chosen` brings whether results are taken from earlier jobs, `compared_with` the id of the job that the user
    chose, "" for none, and `anew_chosen` numbers of items and whether they are sent although their results are there.
    """

    reuse_chosen = Signal(bool)
    compared_with = Signal(str)
    anew_chosen = Signal(object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", foldable=True, parent=parent)
        self._version: DraftVersion | None = None
        self._items: np.ndarray[tuple[int], np.dtype[np.int64]] = np.zeros(0, np.int64)
        self.compare = MenuButton(self.tr("Compare with…"))
        self.compare.setToolTip(self.tr("Choose the job whose file this one is the new version of"))
        self.actions_row.addWidget(self.compare)
        self.sentence = Label("", "quiet", wrap=True)
        self.switch = CheckBox(self.tr("Take what earlier jobs have, and send only the rest"))
        self.switch.clicked.connect(self.reuse_chosen)
        self.tabs = Tabs(margin=0)
        self.tabs.setAccessibleName(self.tr("Which rows are shown"))
        for key in (SENT, TAKEN, MOVED, GONE):
            self.tabs.add(key, "")
        self.tabs.chosen.connect(lambda _: self._show_list())
        self.counts = Label("", "quiet")
        self.table = TableView(inset=True)
        self.table.setAccessibleName(self.tr("Rows of this version of the file"))
        self.table.setItemDelegate(NewWordsDelegate(self.table))
        self.table.setFixedHeight(scaled(ROW_HEIGHT) * (_ROWS_SHOWN + 1))
        self.anew = LinkButton(self.tr("Send these again all the same"))
        self.anew.clicked.connect(self._choose_anew)
        self.back = LinkButton(self.tr("Take back what was chosen to be sent again"))
        self.back.clicked.connect(lambda: self.anew_chosen.emit((), False))
        self.content.setSpacing(SMALL)
        self.content.addWidget(self.sentence)
        self.content.addWidget(self.switch, 0, Qt.AlignmentFlag.AlignLeft)
        self.content.addWidget(self.tabs)
        self.content.addWidget(boxed(Flow(self.counts, self.anew, self.back)))
        self.content.addWidget(self.table)
        self.hide()

    def show_version(
        self, version: DraftVersion | None, found: Preflight | None, job: Job, others: Callable[[], Sequence[Job]]
    ) -> None:
        """Show what is known of a draft; `others` are the jobs that it can be compared with, the newest first."""
        is_other = version is not self._version
        self._version = version
        predecessor = version.predecessor if version else None
        is_needed = version is not None and found is not None and (predecessor or found.reuse or not job.options.reuse)
        if not is_needed or version is None or found is None:
            self.hide()
            return
        if predecessor is not None:
            self.set_title(
                self.tr("A newer version of “{name}”").format(name=one_line(predecessor.name, _LONGEST_NAME))
            )
        else:
            self.set_title(self.tr("What earlier jobs have"))
        self.set_done(True)
        words = said(reuse_sentence(found, job.kind))
        if not job.options.reuse:
            words = self.tr("Everything is sent, also what earlier jobs have.")
        self.sentence.setText(words or self.tr("No text of this version has a result in an earlier job."))
        self.switch.setChecked(job.options.reuse)
        self.set_summary(self._folded_words(version))
        self._fill_menu(version, job, others())
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
            self.compare.add(name, partial(self.compared_with.emit, each.id), checked=each.id == chosen)
        self.compare.add(self.tr("With none"), lambda: self.compared_with.emit(""), checked=not chosen)

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
        before = self.table.model()
        self.table.show_rows(PagedRows(columns, count=len(self._items), fetch=self._fetch, parent=self.table))
        if before is not None:
            before.deleteLater()
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
        """The selected rows, or the current one; without any, all that are listed."""
        chosen = self.table.selected_rows()
        items = self._items[chosen] if chosen else self._items
        self.anew_chosen.emit(tuple(items.tolist()), True)


def _can_be_chosen(other: Job, job: Job) -> bool:
    """Whether a job has a file that this one may be the new version of."""
    return other.kind is job.kind and other.is_sent and other.id != job.id and not other.texts_forgotten_at
