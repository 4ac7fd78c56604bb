"""The search in a job's texts: questions, which are kept with the job, and the texts whose meaning is nearest."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6 import QtGui
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QMenu, QPlainTextEdit, QWidget

from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results import nearest
from cfbatch_gui.core.results.embeddings import Embeddings, Progress
from cfbatch_gui.core.results.exports import Exported, ExportOptions, export, target_for
from cfbatch_gui.core.results.text_search import items_with_words, words_of
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.core.workers_ai.limits import MAX_TEXTS_PER_REQUEST
from cfbatch_gui.ui import dialogs, display, widgets
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results.export_dialog import say_written
from cfbatch_gui.ui.results.found_texts import Found, FoundTable
from cfbatch_gui.ui.results.results_page import ScoreField, VectorPage, VectorsRead, labelled
from cfbatch_gui.ui.results.screening_entry import ScreeningEntry
from cfbatch_gui.ui.tables.table_rows import Column, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import HEADER_HEIGHT, TableView
from cfbatch_gui.ui.theme import LARGE, MEDIUM, ROW_HEIGHT, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import Flow, Label, LinkButton, boxed, column, line, row
from cfbatch_gui.ui.widgets.buttons import paint_chevron
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import one_line, plural, prices, score_text, worded
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import connection_title, is_practice, title_words

_LEFT, _RIGHT, _NARROW, _HEAD = 304, 785, 900, 46  # pixels
_COUNTS = (10, 20, 50, 100)  # of texts that are shown
_NAME = 60  # characters of a question in a sentence
Vectors = dict[str, NDArray[np.float32]]


class Question(NamedTuple):
    text: str
    score: float  # of its best text
    is_close: bool  # whether that is more than unrelated texts reach

    def words(self) -> str:
        return score_text(self.score) if self.is_close else tr("nothing close")


class QuestionTable(TableView):
    removal_wanted = Signal()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removal_wanted.emit()
        else:
            super().keyPressEvent(event)

    def add_to_menu(self, menu: QMenu, index: int) -> None:
        widgets.add_action(menu, tr("Remove question"), self.removal_wanted.emit, "trash-2")


class FoldButton(widgets.Button):
    """Shows and hides a part of the page."""

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        super().paintEvent(event)
        paint_chevron(self)


class ListDialog(dialogs.Dialog):
    """Questions, one a line; says how many are new, and what they cost."""

    def __init__(self, program: Program, job: Job, known: Sequence[str], lines: str, parent: QWidget) -> None:
        super().__init__(tr("Paste a list"), parent, (520, 420))
        self._program, self._job, self._known = program, job, set(known)
        self.text = QPlainTextEdit(lines)
        self.text.setAccessibleName(tr("Your questions, one a line"))
        self.text.setTabChangesFocus(True)
        self.text.textChanged.connect(self._show)
        self.cost = widgets.IconLine("")
        self.ask_button = widgets.PrimaryButton("", "search", self.accept)
        self.lay_out(tr("Your questions, one a line"), (self.text, 1), self.cost, buttons=[self.ask_button])
        self.text.setFocus()
        self._show()

    def questions(self) -> list[str]:
        return list(dict.fromkeys(filter(None, map(str.strip, self.text.toPlainText().splitlines()))))

    def _show(self) -> None:
        questions = self.questions()
        new = [each for each in questions if each not in self._known]
        words = [worded("{n} new, {asked} asked before.", n=len(new), asked=len(questions) - len(new))]
        if new and not is_practice(self._job):
            requests = plural(-(-len(new) // MAX_TEXTS_PER_REQUEST), "{n} request", "{n} requests")
            title = title_words(connection_title(self._program, self._job))
            price = prices(self._program.vectorize.search_price(self._job.id, *new))
            sentence = tr("The new ones are sent to {title}: {requests}, {price} at most.")
            words.append(figures.filled(sentence, {"title": title, "requests": requests, "price": price}))
        self.cost.set_line(" ".join(words))
        self.ask_button.setText(plural(len(questions), "Search for {n} question", "Search for {n} questions"))
        self.ask_button.set_possible("" if questions else tr("Type a text first."))


class SearchView(VectorPage):
    """Finds what is most like a question, whose vector is kept, or like a text of the job, by its own. `screen_wanted`
    brings the id of the job.
    """

    matching_help_wanted, screen_wanted = Signal(), Signal(str)

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "search")
        self.screening = ScreeningEntry(program, self.tasks)
        self.screening.wanted.connect(self.screen_wanted)
        self._index: nearest.TextIndex | None = None
        self._vectors: Vectors = {}
        self._scores: dict[str, float] = {}
        self._unrelated = 0.0
        self.question, self.like = "", 0  # what is shown: a question, or the number of an item
        self._name = ""
        self._make_questions()
        self._make_results()
        self._lay_out()

    # Made once

    def _make_questions(self) -> None:
        self.field = widgets.SearchField(tr("Type a question, a sentence or a few words, in any language"))
        self.field.setAccessibleName(tr("A text to look for"))
        self.field.setMaxLength(1_000_000)  # of a list that is pasted
        self.field.textChanged.connect(self._typed)
        self.field.returnPressed.connect(self.search)
        QtGui.QShortcut(Qt.Key.Key_Down, self.field, self._to_results, context=Qt.ShortcutContext.WidgetShortcut)
        self.button = widgets.PrimaryButton(tr("Search"), "search", self.search)
        for part in (self.field, self.button):
            part.setProperty("tall", "true")
        self.price = widgets.IconLine("")
        self.count = Label("", "quiet")
        self.paste_button = widgets.QuietButton(tr("Paste a list…"), "clipboard-paste", self.paste)
        columns: tuple[Column[Question], ...] = (
            Column(tr("Question"), lambda each: each.text, one_line, stretch=True),
            ScoreColumn(
                tr("Best score"),
                lambda each: each.score,
                text=Question.words,
                width=84,
                widest=(tr("nothing close"),),
                colour=lambda each: "text" if each.is_close else "quiet",
                tip=tr("Of its best text. Nothing is close where unrelated texts are as much alike."),
            ),
        )
        self.questions: Rows[Question] = Rows(columns, key=lambda each: each.text)
        self.question_table = QuestionTable("search/questions", tr("Your questions"), self.questions)
        self.question_table.picked.connect(lambda index: self._choose(self.questions.row(index).text))
        self.question_table.removal_wanted.connect(self._remove)
        self.table_link = LinkButton("", "download", lambda: self.tasks.start("write", self._write_table()))

    def _make_results(self) -> None:
        counts = [(figures.number(count), count) for count in _COUNTS]
        self.best = widgets.Choice(tr("How many texts are shown"), counts, lambda _: self._compare_again())
        self.best.set_value(20)
        self.of = Label("", "quiet")
        self.least = ScoreField()
        self.least.textChanged.connect(lambda _: self._compare_again())
        self.only = widgets.CheckBox(tr("Only with a marked word"))
        self.only.toggled.connect(lambda _: self._compare_again())
        self.found = FoundTable()
        self.found.opened.connect(lambda index: self.show_like(self.job, self.found.item(index)))
        self.found.left.connect(self.field.setFocus)
        self.found.table_wanted.connect(lambda: self.rows_wanted.emit(self.job, self.found.items(), self._name))
        self.like_words = widgets.ElidedLabel("", "strong")
        self.back_link = LinkButton(tr("Back to your question"), "x", lambda: self._choose(self.question, again=True))
        self.results = widgets.MaybeEmpty("search", self.found)

    def _lay_out(self) -> None:
        asking = row((self.field, 1), self.button)
        above = column(
            asking, boxed(Flow(self.price, None, self.screening)), gap=SMALL, margins=(WIDE, 14, WIDE, MEDIUM)
        )
        head = row(Label(tr("Your questions"), "strong"), self.count, None, self.paste_button, margins=(WIDE, 0, 13, 0))
        link = row(WIDE, self.table_link, None, gap=0)
        table = column((self.question_table, 1_000), link, boxed(column(None)), gap=MEDIUM)
        self.left = boxed(column(_high(boxed(head)), line(), table, gap=0))
        self.fold_button = FoldButton(on_click=lambda: self._show_left(not self.left.isVisible(), is_narrow=True))
        self.fold_button.setProperty("menu", "true")
        best = boxed(row(Label(tr("The best"), "strong"), self.best, self.of))
        self._least_bar = labelled(tr("Score from"), self.least)
        bar = Flow(self.fold_button, best, self._least_bar, None, self.only, gap=LARGE)
        self._like_bar = like = boxed(row((self.like_words, 1), self.back_link, margins=(LARGE, SMALL, WIDE, SMALL)))
        right = column(column(boxed(bar), margins=(LARGE, SMALL, WIDE, SMALL)), line(), gap=0)
        right.addWidget(like)
        right.addWidget(self.results, 1)
        like.hide()
        self._split = widgets.split(self.left, boxed(right), sizes=(_LEFT, _RIGHT), name="search", stretched=1)
        help_link = LinkButton(tr("What is a score?"), on_click=self.matching_help_wanted.emit)
        self.lay_out(boxed(column(above, line(), (self._split, 1), gap=0)), beside_foot=[help_link], side=0)
        self._set_narrow(False)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        if (is_narrow := event.size().width() < scaled(_NARROW)) is not self.fold_button.isVisibleTo(self):
            self._set_narrow(is_narrow)

    def _set_narrow(self, is_narrow: bool) -> None:
        self.fold_button.setVisible(is_narrow)
        self._show_left(not is_narrow, is_narrow=is_narrow)

    def _show_left(self, is_shown: bool, *, is_narrow: bool) -> None:
        self.left.setVisible(is_shown)
        for part in (self.of, self._least_bar, self.only):  # for which there is no room then
            part.setVisible(not (is_shown and is_narrow))
        self._split.setSizes([scaled(_LEFT), scaled(_RIGHT)])

    # Reading

    def show_job(self, job: Job) -> None:
        super().show_job(job)
        self.screening.show_question(job, "" if self.like else self.question)

    def clear(self) -> None:
        self.field.clear()
        self.question, self.like, self._index, self._vectors, self._scores = "", 0, None, {}, {}
        self._fill()

    async def read(self, job: Job) -> VectorsRead:
        read = await super().read(job)
        if not read.done:
            return read

        def look() -> tuple[nearest.TextIndex, float, Vectors]:
            index = nearest.TextIndex(Embeddings(read.embeddings.folder, job.failed_batches, beside=True))
            return index, index.unrelated(), nearest.asked(read.embeddings.folder, is_question=True)

        self._scores = {}
        self._index, self._unrelated, vectors = await in_thread(look)
        await self._take(vectors)
        return read

    async def _kept(self) -> Vectors:
        return await in_thread(nearest.asked, self.embeddings.folder, is_question=True)

    async def _take(self, vectors: Vectors) -> None:
        """All questions as they are kept; those that are new are compared."""
        index, new = self._opened(), [each for each in vectors if each not in self._scores]
        best = await in_thread(index.best, [vectors[each] for each in new], 1)
        scores = {each: found[0][1] if found else -1.0 for each, found in zip(new, best, strict=True)}
        self._vectors, self._scores = vectors, self._scores | scores

    def _opened(self) -> nearest.TextIndex:
        assert self._index is not None  # noqa: S101 - fields and tasks are there only after `read`
        return self._index

    def arrived(self, *, is_first: bool) -> None:
        practice = is_practice(self.job)
        words = tr("Any words, any language. Your questions are kept.")
        if not practice:
            words = tr(
                "Any words, any language. A new question costs one request, far below a cent; asked ones are kept and"
                " cost nothing."
            )
        self.price.set_line(words)
        self.stack.show_content()
        self._typed(self.field.text())
        self._fill()
        if is_first and not (self.question or self.like):
            last = next(reversed(self._vectors), "")
            self._choose("" if self.field.text() else last, again=True)  # what was typed meanwhile stays
        else:
            self._compare_again()

    def row_choices(self) -> tuple[RowChoice, ...]:
        items = self.found.items()
        chosen = [self.found.item(index) for index in self.found.selected_rows()]
        several = chosen if len(chosen) > 1 else ()
        return row_choices((self._name, items), (tr("selected"), several))

    # Questions

    def search(self) -> None:
        """Ask what stands in the field, once the vectors are read."""
        text = self.field.text().strip()
        if self.vectors_read is None and self.shown is not None:
            self.once_read(self.job, self.search)
        elif text:
            self._ask((text,))

    def ask_of(self, job: Job, question: str) -> None:
        def ask() -> None:
            self.field.setText(question)
            self.search()

        self.once_read(job, ask)

    def show_like(self, job: Job, item_no: int) -> None:
        """The neighbours of a text of a job; nothing is sent."""

        def show() -> None:
            self.like = item_no
            self._compare_again()

        self.once_read(job, show)

    def paste(self, lines: str = "") -> None:
        dialog = ListDialog(self.program, self.job, list(self._vectors), lines, self)
        self.tasks.start("paste", self._paste(dialog))

    async def _paste(self, dialog: ListDialog) -> None:
        if await dialogs.finished(dialog) == QDialog.DialogCode.Accepted:
            self._ask(dialog.questions())

    def _typed(self, text: str) -> None:
        lines = text.replace("\u2029", "\n").splitlines()
        if len(lines) > 1 and self.vectors_read is not None:
            self.field.clear()
            self.paste("\n".join(lines))
        self.button.set_possible("" if text.strip() else tr("Type a text first."))

    def _ask(self, questions: Sequence[str]) -> None:
        if all(each in self._vectors for each in questions):
            self._choose(questions[0], again=True)
        elif not self.tasks.is_running("ask"):
            self.tasks.start("ask", self._asked(self.job, questions))

    async def _asked(self, job: Job, questions: Sequence[str]) -> None:
        title = connection_title(self.program, job)
        self.button.set_possible(tr("The text is on its way."))
        self.foot.set_line(worded("Asking {title}…", title=title_words(title)), "loader")
        try:
            client = self.program.address_book.client(job.connection)
            await nearest.ask(client, job, self.embeddings, questions, now=self.program.clock())
        finally:
            if self.shown is not None and self.shown.id == job.id and self._index is not None:  # else it is kept
                await self._take(await self._kept())
                self._typed(self.field.text())
                self._fill()
                self._show_foot()
        self._choose(questions[0])

    def _choose(self, question: str, *, again: bool = False) -> None:
        """Show what is like a question that was asked, "" for none; the keyboard stays where it is."""
        if question == self.question and not (again or self.like):
            return
        self.question, self.like = question, 0
        if question:
            self.field.setText(question)
        self._select()
        self._compare_again()

    def _select(self) -> None:
        rows = (index for index in range(self.questions.rowCount()) if self.questions.row(index).text == self.question)
        if (index := next(rows, None)) is not None and index != self.question_table.currentIndex().row():
            self.question_table.selectRow(index)

    def _remove(self) -> None:
        chosen = [self.questions.row(index).text for index in self.question_table.selected_rows()]
        if chosen:
            self.tasks.start("remove", self._removed(self.job.id, chosen))

    async def _removed(self, job_id: str, questions: Sequence[str]) -> None:
        folder = self.program.folder(job_id)
        rows = [await in_thread(nearest.forget_asked, folder, question) for question in questions]

        def undo() -> None:
            self.tasks.start("remove", put_back())

        async def put_back() -> None:
            await in_thread(nearest.keep_asked, folder, rows)
            if self.shown is not None and self.shown.id == job_id and self._index is not None:
                await self._show_kept(questions[0])

        name = one_line(questions[0], _NAME)
        self.notices.show_undo(
            plural(len(questions), "Removed “{name}”.", "Removed {n} questions.", name=name),
            plural(len(questions), "Undo removing “{name}”", "Undo removing {n} questions", name=name),
            undo,
        )
        await self._show_kept("")

    async def _show_kept(self, question: str) -> None:
        await self._take(await self._kept())
        self._fill()
        if question or self.question not in self._vectors:
            self._choose(question or next(reversed(self._vectors), ""))

    def _fill(self) -> None:
        scores = [(each, self._scores[each]) for each in self._vectors]
        self.questions.set_rows([Question(each, score, score >= self._unrelated) for each, score in scores])
        count = len(scores)
        self.count.setText(figures.number(count))
        self.fold_button.setText(worded("Your questions {n}", n=count))
        words = tr("Table of all {n}, best {best} each…")
        self.table_link.setText(figures.filled(words, {"n": count, "best": self.best.value()}))
        self.table_link.setVisible(count > 0)
        self.question_table.setVisible(count > 0)
        self.question_table.setMaximumHeight(scaled(HEADER_HEIGHT) + count * scaled(ROW_HEIGHT) + 2)
        self._select()

    async def _write_table(self) -> None:
        job, folder = self.job, self.program.remembered_folder(FolderUse.EXPORTS)
        path = await dialogs.save_file(
            self,
            tr("Save the table of all questions"),
            name=f"{job.name}.xlsx",
            folder=folder,
            filters=("Excel (*.xlsx)", "CSV (*.csv)", "Parquet (*.parquet)", "JSON Lines (*.jsonl)"),
        )
        if path is None:
            return
        options = ExportOptions(separator=display.csv_separator(), top_k=int(str(self.best.value())))
        target, title = target_for(path, job.kind, purpose=Purpose.SEARCH), connection_title(self.program, job)

        def write(tell: Progress) -> Exported:
            share = lambda done, of: tell(done / max(1, of))  # noqa: E731
            data = self.program.folder(job.id)
            return export(data, job, path, target, options=options, connection=title, say=said, progress=share)

        say_written(self.notices, [await self.worked_out(tr("Writing…"), write)])
        self._show_foot()

    # Results

    def _to_results(self) -> None:
        if self.found.found.rowCount():
            self.found.setFocus(Qt.FocusReason.TabFocusReason)

    def _compare_again(self) -> None:
        self._fill()
        if self._index is not None:
            self.tasks.start("compare", self._compare(self._index))

    async def _compare(self, index: nearest.TextIndex) -> None:
        like, words = self.like, words_of(self.question) if not self.like else ()
        best, folder, texts = int(str(self.best.value())), index.embeddings.folder, index.embeddings.count
        has_words = self.only.isChecked() and not like

        def work() -> tuple[nearest.Neighbour, ...]:
            vector = index.embeddings.vector(like) if like else self._vectors.get(self.question)
            among = np.arange(1, texts + 1) != like
            if has_words:
                among &= np.isin(np.arange(1, texts + 1), items_with_words(folder, words))
            return index.nearest(vector, best, among) if vector is not None else ()

        with self.waiting(tr("Comparing…")):
            near = await in_thread(work)
            (text,) = index.embeddings.texts([like]) if like else (None,)
        least = self.least.value()
        kept = [each for each in near if least is None or each.similarity >= least]
        self.found.texts.words = words
        self.found.found.set_rows([Found(rank, each.text, each.similarity) for rank, each in enumerate(kept, 1)])
        self.of.setText(worded("of {n} texts", n=self.vectors_read.done if self.vectors_read else texts))
        named = text.text if text is not None else self.question
        self._name = worded("Most like “{text}”", text=one_line(named, _NAME)) if named else ""
        self.like_words.setText(self._name)
        self._like_bar.setVisible(bool(like))
        self.only.setEnabled(not like)
        self.screening.show_question(self.job, "" if like else self.question)
        if kept:
            self.results.show_content()
            self.found.scrollToTop()
            self.found.selectRow(0)
        else:
            nothing = tr("The texts that are most like yours will stand here, the most similar first.")
            self.results.show_sentence(tr("There is no such text.") if named else nothing)
        self._show_foot()

    def _show_foot(self) -> None:
        if self.like:
            self.show_foot(tr("These are the texts of the job that are most like this one; nothing was sent for it."))
            return
        self.show_foot(
            tr("Found by meaning. Words of your question are marked where they stand; a text can fit without.")
        )


def _high(head: QWidget) -> QWidget:
    head.setMinimumHeight(scaled(_HEAD))
    return head
