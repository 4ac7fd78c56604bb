"""Embedded texts: their table, and the search by a text of one's own or the job's."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.exports.rows import vector_texts
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results import results_page
from cfbatch_gui.ui.results.results_page import TextList, VectorPage, id_column, row_column, text_column
from cfbatch_gui.ui.tables.table_rows import Column
from cfbatch_gui.ui.tables.table_view import ColumnsButton
from cfbatch_gui.ui.theme import MEDIUM
from cfbatch_gui.ui.widgets import Flow, Label, LinkButton, row
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import score_text, worded
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.results import checks_line


def vector_columns(
    original: Sequence[str], *, with_ids: bool, labelled: bool
) -> tuple[Column[results_page.ListedText], ...]:
    return (
        row_column(width=58, tip=tr("The row in your file, as its own program counts.")),
        id_column(width=78, hidden=not with_ids),
        text_column(),
        Column(tr("Label"), lambda row: row.text.label, width=100, hidden=not labelled),
        *results_page.original_columns(original, lambda row: row.text.cells, width=130),
    )


_VALUES = 8


class VectorsView(VectorPage):
    """Reads pages of the table when they are painted. `similar_wanted` brings the number of the chosen item."""

    similar_wanted = Signal(int)

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "waypoints")
        self._chosen = 0  # its item number
        self.count = Label("", "quiet")
        self.all_link = LinkButton(tr("Show all"), "x", self.show_all)
        self.all_link.hide()
        self.values = widgets.ElidedLabel("", "quiet")
        self.copy_button = LinkButton(tr("Copy vector"), "copy", self.copy_vector)
        self.similar_button = LinkButton(tr("Texts like this"), "search", self._want_similar)
        values = row((self.values, 1), self.copy_button, self.similar_button, gap=MEDIUM)
        self.list = TextList(self, "vectors/texts", tr("Texts"), parts=[values])
        self.list.picked.connect(self._picked)
        self.list.opened.connect(lambda _: self._want_similar())
        self.find_field = self.add_search(tr("Find in texts and ids"), self.list.table, self.list.panel)
        self.lay_out(self.list, Flow(self.find_field, self.count, self.all_link, None, ColumnsButton(self.list.table)))

    def show_items(self, job: Job, items: Sequence[int], name: str) -> None:
        """Show these texts of a job alone, in this order; `name` says what chose them. A search, or “Show all”, ends
        it.
        """

        def show() -> None:
            self.find_field.reset()
            self.tasks.cancel("find")
            self._show(items, name)
            self.list.table.setFocus(Qt.FocusReason.OtherFocusReason)  # the widget that was clicked is hidden now

        self.once_read(job, show)

    def show_all(self) -> None:
        self.show_items(self.job, self._all(), "")

    def row_choices(self) -> tuple[RowChoice, ...]:
        shown, found = self.list, self.list.name or worded("“{text}”", text=self.find_field.text())
        some = shown.items if not isinstance(shown.items, range) else ()
        return row_choices((found, some), shown.selected(), proposed=shown.name)

    # Reading

    def clear(self) -> None:
        self.find_field.reset()
        self._chosen = 0
        self.list.show_items(range(0))

    def arrived(self, *, is_first: bool) -> None:
        read = self.vectors_read
        if read is None:
            return
        if is_first:
            embeddings = read.embeddings
            columns = vector_columns(embeddings.columns(), with_ids=embeddings.has_ids, labelled=read.labelled)
            self.list.show_columns(columns)
        self._show(self._all() if isinstance(self.list.items, range) else self.list.items, self.list.name)
        self.stack.show_content()
        self.tasks.start("check", self._check())

    def _all(self) -> range:
        """All items; a range says that they are all."""
        return range(1, self.embeddings.count + 1)

    async def find_text(self, text: str) -> None:
        if self.vectors_read is not None:
            self._show(await in_thread(self.embeddings.find, text) if text else self._all(), "")

    def _show(self, items: Sequence[int], name: str) -> None:
        scrolled = self.list.table.verticalScrollBar().value()
        self.list.show_items(items, name=name, chosen=self._chosen)
        self.list.table.verticalScrollBar().setValue(scrolled)
        self.all_link.setVisible(bool(name))
        of = self.embeddings.count
        words = figures.plural(of, "{n} text", "{n} texts")
        if not isinstance(items, range):
            words = worded("{n} of {total} texts", n=len(items), total=of)
        elif self.vectors_read is not None and self.vectors_read.done < of:
            words = worded("{n} of {total} texts have a vector", n=self.vectors_read.done, total=of)
        self.count.setText(" · ".join(filter(None, (words, figures.one_line(name, 60)))))

    async def _check(self) -> None:
        with self.waiting(tr("Looking at the vectors…")):
            sentence, is_well = checks_line(await in_thread(self.embeddings.checks), self.job)
        icon = ("circle-check", "done") if is_well else ("triangle-alert", "attention")
        self.foot.set_line(sentence, *icon)

    # The chosen text

    def copy_vector(self) -> None:
        """All numbers as a JSON array, each in the shortest form that reads back as the same float32."""
        vector = self.embeddings.vector(self._chosen) if self._chosen else None
        if vector is not None:
            QGuiApplication.clipboard().setText(vector_texts(vector[None, :])[0].decode())

    def _want_similar(self) -> None:
        if self._chosen and self.similar_button.isEnabled():
            self.similar_wanted.emit(self._chosen)

    def _picked(self, item_no: int) -> None:
        if item_no == self._chosen:
            return
        self._chosen, vector = item_no, self.embeddings.vector(item_no)
        for button in (self.copy_button, self.similar_button):
            button.setEnabled(vector is not None)
        values = vector[:_VALUES].tolist() if vector is not None else ()
        words = list(map(score_text, values)) or [tr("No vector")]
        if vector is not None and len(vector) > _VALUES:
            words.append(worded("… {n} more", n=len(vector) - _VALUES))
        self.values.setText(" · ".join(words))  # a comma is the decimal sign of many languages
