"""The page on which texts are judged by single keys, one after the other, and judgements in and out of files."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.evaluation.joining import Run, label_judgements, read_run, read_runs
from cfbatch_gui.core.evaluation.judged import Pool, keep_labels, make_pool
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements import files
from cfbatch_gui.core.judgements.book import Book, disagreeing
from cfbatch_gui.core.judgements.files import Form
from cfbatch_gui.core.judgements.session import Session, Shown, between_judges, with_themselves
from cfbatch_gui.core.judgements.values import (
    FOUR,
    THREE,
    TWO,
    Grade,
    Judgement,
    Scale,
    Source,
    is_of_decisions,
    own_scale,
)
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import dialogs, widgets
from cfbatch_gui.ui.notices import Notices, PageUndo, announce
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import Label, boxed, column, row
from cfbatch_gui.ui.widgets.text_panel import PlainText
from cfbatch_gui.words import quality
from cfbatch_gui.words.figures import plural, worded
from cfbatch_gui.words.languages import said, tr

_SHORTEST_SCALE = 24  # characters
_WIDEST_NAME = 180  # pixels; a longer one ends in "…"
_LEAST_TEXT = 38  # pixels; two lines
_LONGEST = 50_000  # characters of a text that are laid out
_MINUTE, _SECONDS_A_TEXT = 60.0, 8
_TOPS = (3, 5, 10, 20)
_OWN = "own"
_WIDTH = 640
_SUFFIXES = {Form.CSV: "csv", Form.TREC: "qrels", Form.BEIR: "tsv", Form.QUEPID: "csv", Form.LINES: "jsonl"}


def key_cap(text: str) -> Label:
    label = Label(text, "small")
    label.setProperty("kind", "key")
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    return label


class _GradeCard(widgets.Clickable):
    def __init__(self, grade: Grade, on_chosen: Callable[[], object]) -> None:
        super().__init__()
        self.grade = grade
        self.clicked.connect(on_chosen)
        self.setProperty("kind", "choice")
        self.set_chosen(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        words, explained = said(grade.name), said(grade.meaning)
        self.setAccessibleName(words)
        self.setAccessibleDescription(explained)
        name, meaning = widgets.ElidedLabel(words, "strong"), widgets.Label(explained, "small", wrap=True)
        margins = (LARGE, MEDIUM, SMALL, MEDIUM)
        self.setLayout(column(row(key_cap(str(grade.value)), None), TINY, name, meaning, None, gap=2, margins=margins))
        self.setMinimumWidth(min(name.sizeHint().width(), scaled(_WIDEST_NAME)) + LARGE + SMALL + 2)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_chosen(self, chosen: bool) -> None:
        widgets.restyle(self, "selected", "true" if chosen else "false")


class OneByOne(QWidget):
    """What is to be decided by single keys, one after the other, with how far this is above it."""

    accessible_role = QAccessible.Role.Document

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.keyboard: QWidget = self  # what has it while the page decides
        self.count, self.left, self.progress = Label("", "strong"), Label("", "quiet"), widgets.ThinProgress()

    def lay_out(self, beside: QWidget, *content: widgets.Item, foot: QWidget, top: int, bottom: int) -> None:
        """`beside` stands in the line of the progress; `top` and `bottom` are pixels above and below the content."""
        head = row(self.count, MEDIUM, self.left, None, beside)
        whole = column(head, self.progress, *content, None, margins=(WIDE, top, WIDE, bottom))
        below = column(foot, margins=(WIDE, SMALL, WIDE, MEDIUM))
        self.setLayout(column((whole, 1), widgets.line(), below, gap=0))

    def show_progress(self, done: int, total: int, seconds_left: float) -> None:
        self.count.setText(worded("{n} of {all}", n=done, all=total))
        self.left.setText(time_left(seconds_left))
        self.progress.set_parts(done, total)


class JudgingView(OneByOne):
    """`answer` is called with a grade, or None for "cannot tell"; `undo` goes back to the text before."""

    def __init__(self, answer: Callable[[int | None], object], undo: Callable[[], object]) -> None:
        super().__init__()
        self._answer, self._go_back, self._about = answer, undo, Label("", "quiet")
        self.query, self._given = Label("", "title", wrap=True), Label("", "attention", wrap=True)
        self.text = PlainText(tr("The text to judge"))
        self.text.setProperty("kind", "large")
        self.text.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the page has the keys, also after a click into the text
        self.text.setMinimumHeight(scaled(_LEAST_TEXT))
        self._grades = widgets.Flow(gap=MEDIUM)
        self.cards: list[_GradeCard] = []
        self._note = QLineEdit(placeholderText=tr("A note on this text; Enter goes on"), maxLength=2000)
        self._note.setAccessibleName(tr("Note"))
        self._note.returnPressed.connect(lambda: self.setFocus(Qt.FocusReason.OtherFocusReason))
        self._saved, self._foot = Label("", "quiet"), widgets.IconLine("", "eye-off")
        self.lay_out(
            self._about,
            LARGE,
            Label(tr("Somebody asks"), "quiet"),
            self.query,
            SMALL,
            Label(tr("Would this text help?"), "quiet"),
            self._given,
            (widgets.Card((self.text, 1), inset=True, margins=(WIDE, MEDIUM, SMALL, MEDIUM)), 3),
            SMALL,
            boxed(self._grades),
            self._note,
            SMALL,
            boxed(widgets.Flow(*self._hints(), None, self._saved, gap=LARGE)),
            foot=self._foot,
            top=SMALL,
            bottom=LARGE,
        )

    def _hints(self) -> list[QWidget]:
        self._undo = widgets.LinkButton(tr("Undo"), on_click=self._go_back)
        untold = widgets.LinkButton(tr("Cannot tell"), on_click=lambda: self._answer(None))
        links = {tr("Space"): untold, "⌫": self._undo, "N": widgets.LinkButton(tr("Note"), on_click=self._open_note)}
        for link in links.values():
            link.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # each has a key, and Space is one of them
        return [boxed(row(key_cap(key), link, gap=TINY)) for key, link in links.items()]

    def begin(self, scale: Scale, foot: str) -> None:
        widgets.discard(self._grades, *self.cards)
        self.cards = [_GradeCard(grade, partial(self._answer, grade.value)) for grade in scale.grades]
        widest = max(card.minimumWidth() for card in self.cards)
        for card in self.cards:
            card.setMinimumWidth(widest)
            self._grades.addWidget(card)
        self._foot.set_line(foot)

    def show_pair(self, session: Session, shown: Shown, about: str, given: str, chosen: int | None) -> None:
        """`about` stands beside the progress and `given` above the text; `chosen` was the grade before an undo."""
        done = session.position
        self.show_progress(done, len(session), session.seconds_left())
        self._about.setText(about)
        self._undo.setEnabled(done > 0)
        self._saved.setText(tr("Saved") if done else "")
        text = shown.document.text or shown.document.id
        self.query.setText(shown.query.text or shown.query.id)
        self.text.setPlainText(text[:_LONGEST] + ("…" if len(text) > _LONGEST else ""))
        self._given.say(given)
        for card in self.cards:
            card.set_chosen(card.grade.value == chosen)
        self._note.clear()
        self._note.hide()
        self.setAccessibleName(self.query.text())
        self.setAccessibleDescription(self.text.toPlainText())
        announce(self, f"{self.query.text()}: {self.text.toPlainText()}")

    def note(self) -> str:
        return self._note.text().strip()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        has_modifier = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
        if event.isAutoRepeat() or has_modifier:
            super().keyPressEvent(event)
        elif event.text().isdecimal() and event.text().isascii() and int(event.text()) < len(self.cards):
            self._answer(int(event.text()))
        elif event.key() == Qt.Key.Key_Space:
            self._answer(None)
        elif event.key() == Qt.Key.Key_Backspace:
            self._go_back()
        elif event.key() == Qt.Key.Key_N:
            self._open_note()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            QtWidgets.QAbstractScrollArea.keyPressEvent(self.text, event)
        else:
            super().keyPressEvent(event)

    def _open_note(self) -> None:
        self._note.show()
        self._note.setFocus(Qt.FocusReason.OtherFocusReason)


def time_left(seconds: float) -> str:
    minutes = round(seconds / _MINUTE)
    if minutes < 1:
        return tr("less than a minute left")
    return plural(minutes, "about {n} minute left", "about {n} minutes left")


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What there is to judge with the user's choices; `scale` is for a new book only."""

    judge: str
    scale: Scale
    pool: Pool
    disagreements: list[list[Judgement]]  # of each pair about which judges disagree


class JudgePage(QWidget):
    """`done` brings the ids of the jobs whose figures are wanted: one, or several to compare."""

    done = Signal(list)

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__()
        self._program, self._notices = program, notices
        self.jobs: tuple[Job, ...] = ()
        self._runs: list[Run] = []
        self._prepared: _Prepared | None = None
        self.session: Session | None = None  # the judging that is going on
        self._words: list[tuple[str, str]] = []  # beside the progress and above the text, for each pair
        self.tasks = Tasks(self, self._show_error)
        self.header = widgets.PageHeader(tr("Judge"))
        self.files_button = self.header.add_button(widgets.MenuButton(tr("Files")))
        self.pause_button = self.header.add_button(widgets.QuietButton("", on_click=self._leave))
        forms = {
            Form.CSV: tr("Save as CSV with texts…"),
            Form.TREC: tr("Save as TREC qrels…"),
            Form.BEIR: tr("Save as TSV for BEIR…"),
            Form.QUEPID: tr("Save as CSV for Quepid…"),
            Form.LINES: tr("Save everything as JSON Lines…"),
        }
        self.files_button.add(tr("Import judgements…"), self._starting("files", self._import))
        for form, name in forms.items():
            self.files_button.add(name, self._starting("files", partial(self._export, form)))
        undo = partial(self._write, self._undo)
        self.start = self._start_page()
        self.view = JudgingView(lambda grade: self._write(partial(self._answer, grade)), undo)
        self.end = widgets.EmptyPlace("circle-check", "", tr("Show the result"))
        self.end.pressed.connect(self._leave)
        self._pages = QtWidgets.QStackedWidget()
        for page in (self.start, self.view, self.end):
            self._pages.addWidget(page)
        self.setLayout(column(self.header, 6, widgets.Roomy(self._pages), gap=0))
        self._page_undo = PageUndo(self, notices.undos, tr("Undo the last judgement"), undo)

    def judge(self, jobs: Sequence[Job]) -> None:
        self.jobs, self._runs, self.session, self._prepared = tuple(jobs), [], None, None
        self._page_undo.renew(False)
        self.header.set_facts(*(job.name for job in jobs))
        self._show_way_out(judging=False)
        self._show_possible()
        self._pages.setCurrentWidget(self.start)
        self.tasks.start("read", self._read())

    # Making

    def _start_page(self) -> QWidget:
        self.book, self.judge_name = QLineEdit(maxLength=80), QLineEdit(maxLength=80, placeholderText=tr("me"))
        self.grades = QLineEdit(placeholderText=tr("the least relevant first, separated by commas"))
        for field in (self.book, self.judge_name, self.grades):
            field.editingFinished.connect(self._prepare_anew)
        tops = [(worded("the first {n} of each", n=count), count) for count in _TOPS]
        self.tops = widgets.Choice(tr("Texts to judge"), tops, self._prepare_anew)
        self.tops.set_value(10)
        self.scales = widgets.Choice(tr("Grades"), on_picked=self._prepare_anew)
        self.scales.setMinimumContentsLength(_SHORTEST_SCALE)  # the names of all grades may be longer than a window
        self.scales.setSizeAdjustPolicy(QtWidgets.QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.counts, self.trouble = Label("", "strong", wrap=True), Label("", "error", wrap=True)
        self.begin_button = widgets.PrimaryButton(tr("Start judging"), "play", self._starting("begin", self._begin))
        settle = self._starting("begin", partial(self._begin, settles=True))
        self.settle_button = widgets.QuietButton(on_click=settle)
        self._form = widgets.form(gap=LARGE)
        fields: dict[str, QWidget] = {
            tr("Judgements saved as"): self.book,
            tr("Your name"): self.judge_name,
            tr("Texts to judge"): self.tops,
            tr("Grades"): self.scales,
            tr("Your words"): self.grades,
        }
        for name, each in fields.items():
            each.setAccessibleName(name)
            label = Label(name, "quiet")
            label.setBuddy(each)
            self._form.addRow(label, each)
        explained = tr(
            "You see one text at a time and say with one key how well it answers its query. Scores, ranks and jobs stay"
            " hidden, so that they cannot sway you. Every answer is saved at once; stop whenever you like."
        )
        buttons = row(self.begin_button, self.settle_button, None)
        parts = (Label(explained, "body", wrap=True), SMALL, self._form, SMALL, self.counts, self.trouble, buttons)
        card = widgets.Card(*parts, margins=(WIDE, 20, WIDE, 20))
        card.setMaximumWidth(scaled(_WIDTH))
        return widgets.scrolled(boxed(column(row(card, None), None, margins=(WIDE, LARGE, WIDE, LARGE))))

    def _starting(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], object]:
        return lambda: self.tasks.start(name, work())

    # Before

    async def _read(self) -> None:
        judgements = self._program.judgements
        self._runs = await asyncio.to_thread(read_runs, self._program.folder, self.jobs)
        names = await asyncio.to_thread(judgements.names)
        completer = QtWidgets.QCompleter([name for name in names if not is_of_decisions(name)], self.book)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.book.setCompleter(completer)
        self.book.setText(judgements.used_name())
        self.judge_name.setText(self._program.settings.judge)
        await self._prepare()
        self.begin_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _prepare_anew(self, _: object = None) -> None:
        self.tasks.start("prepare", self._prepare())

    async def _prepare(self) -> None:
        if not self._runs:
            return
        judgements, name, self._prepared = self._program.judgements, self._book_name(), None
        self.book.setText(name)
        judge = " ".join(self.judge_name.text().split()) or tr("me")
        try:
            book, top = await asyncio.to_thread(judgements.find, name), self.tops.currentData()
            scale = self._chosen_scale(book)
            pool = await asyncio.to_thread(make_pool, self._runs, book, judge=judge, k=top)
            found = await asyncio.to_thread(disagreeing, book) if book is not None else []
        except UserError as error:
            self._show_possible(said(error.message))
            return
        self._prepared = _Prepared(judge, scale, pool, found)
        self._show_counts(pool, top)
        self._show_possible()

    def _chosen_scale(self, book: Book | None) -> Scale:
        """That of the book, which cannot be changed; a new book has the one that the user chooses. Raises UsageError
        for words that make none.
        """
        shown = (TWO, THREE, FOUR) if book is None else (book.scale,)
        offered: list[tuple[str, object]] = [(" · ".join(said(each.name) for each in one.grades), one) for one in shown]
        own = [(tr("Words of your own…"), _OWN)] if book is None else []
        self.scales.refill([*offered, *own], FOUR)
        self.scales.setEnabled(book is None)
        chosen = self.scales.value()
        self._form.setRowVisible(self.grades, chosen == _OWN)
        if isinstance(chosen, Scale):
            return chosen
        if not self.grades.text().strip():
            raise UsageError(tr("Type the words for your grades, the least relevant first."))
        return own_scale(tuple(self.grades.text().split(",")))

    def _show_counts(self, pool: Pool, top: int) -> None:
        of_queries = plural(pool.queries, "{n} query", "{n} queries")
        texts = plural(pool.texts, "{n} text", "{n} texts")
        about = worded("top {k} of each, {texts} for {queries}", k=top, texts=texts, queries=of_queries)
        self.header.set_facts(*(job.name for job in self.jobs), about)
        words = tr("All of these texts are judged already.")
        if pool.items:
            time = plural(max(1, round(len(pool.items) * _SECONDS_A_TEXT / _MINUTE)), "{n} minute", "{n} minutes")
            counts = {"n": pool.fresh, "time": time, "judged": pool.judged}
            words = worded("Texts to judge: {n}, about {time}. Judged already: {judged}.", **counts)
        self.counts.setText(words)

    def _show_possible(self, trouble: str = "") -> None:
        prepared = self._prepared
        self.trouble.say(trouble)
        self.begin_button.setEnabled(prepared is not None and bool(prepared.pool.items))
        found = len(prepared.disagreements) if prepared is not None else 0
        self.settle_button.setText(plural(found, "Settle {n} disagreement", "Settle {n} disagreements"))
        self.settle_button.setVisible(found > 0)

    # Judging

    async def _begin(self, *, settles: bool = False) -> None:
        """Judge what is in the pool, or have the last word where the judges disagree."""
        await self._prepare()
        prepared = self._prepared
        if prepared is None or not (prepared.disagreements if settles else prepared.pool.items):
            return
        items = prepared.pool.items
        book = await self._open_book(prepared)
        if settles:
            pairs, source = [Shown(each.query, each.document) for each, *_ in prepared.disagreements], Source.SETTLED
            foot = tr("The judges disagree about these texts. Your answer is the last word; theirs are kept.")
            self._words = [("", _grades_in_words(each, book.scale)) for each in prepared.disagreements]
        else:
            pairs, source = list(items), Source.PERSON
            foot = tr("Score, rank and job are hidden here, so that they cannot sway you.")
            if any(pair.again for pair in pairs):
                foot += " " + tr("Some texts come twice, to see how steady judgements are.")
            queries = prepared.pool.queries
            self._words = [(worded("Query {n} of {all}", n=each.query_number, all=queries), "") for each in items]
        self.session = Session(book, pairs, judge=prepared.judge, clock=self._program.clock, source=source)
        self.view.begin(book.scale, foot)
        self._show_way_out(judging=True)
        self._show_current()

    async def _open_book(self, prepared: _Prepared) -> Book:
        judgements = self._program.judgements
        book = await asyncio.to_thread(judgements.book_or_new, self._book_name(), prepared.scale)
        await self._program.keep_settings(judgement_book=book.name, judge=prepared.judge)
        for run in self._runs:
            await asyncio.to_thread(keep_labels, judgements, run, time=self._program.clock())
        return book

    def _write(self, write: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if not self.tasks.is_running("answer"):
            self.tasks.start("answer", write())

    async def _answer(self, grade: int | None) -> None:
        session = self.session
        if session is not None and not session.is_done:
            await asyncio.to_thread(session.judge, grade, self.view.note())
            self._show_current()

    async def _undo(self) -> None:
        session = self.session
        if session is not None:
            grade = session.last_grade
            if await asyncio.to_thread(session.undo):
                self._show_current(chosen=grade)

    def _show_current(self, *, chosen: int | None = None) -> None:
        session = self.session
        if session is None:
            return
        self._page_undo.renew(session.position > 0)
        if (shown := session.current) is None:
            self.tasks.start("end", self._show_end(session))
            return
        self.view.show_pair(session, shown, *self._words[session.position], chosen)
        if self._pages.currentWidget() is not self.view:
            self._pages.setCurrentWidget(self.view)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    # After

    async def _show_end(self, session: Session) -> None:
        book = session.book
        words = [plural(session.texts, "{n} text is judged.", "All {n} texts are judged.")]
        agreements = {
            tr("Texts that came twice: {agreement}."): with_themselves,
            tr("With other judges: {agreement}."): between_judges,
        }
        for pattern, agreement in agreements.items():
            found = await asyncio.to_thread(agreement, book)
            if found.pairs:
                words.append(pattern.format(agreement=quality.agreement_words(found)))
        self.end.set_sentence(" ".join(words))
        self.end.button.setText(tr("Show which is better") if len(self.jobs) > 1 else tr("Show the quality"))
        self._pages.setCurrentWidget(self.end)
        self._show_way_out(judging=False)
        self.end.button.setFocus(Qt.FocusReason.OtherFocusReason)
        await asyncio.to_thread(book.shelf.back_up)

    def _show_way_out(self, *, judging: bool) -> None:
        self.files_button.setVisible(not judging)
        self.pause_button.setText(tr("Pause") if judging else tr("Back"))
        self.pause_button.set_icon("pause" if judging else "chevron-left")

    def _leave(self) -> None:
        self.done.emit([job.id for job in self.jobs])

    def _show_error(self, error: UserError) -> None:
        if self._runs:
            self._notices.show_error(error)
        else:
            self._show_possible(said(error.message))

    # Judgements in and out of files

    def _book_name(self) -> str:
        return self.book.text().strip() or self._program.judgements.used_name()

    def _ranking(self) -> Job:
        """The first job that ranks, whose ids the files have."""
        return next(job for job in self.jobs if job.kind is Kind.RANK)

    async def take_in(self, path: Path) -> None:
        """Import a file beside the first ranking. Raises UserError; nothing is taken in part."""
        found = await asyncio.to_thread(files.read_judgements, path)
        files.check_all_read(found)
        book = await asyncio.to_thread(self._program.judgements.book_or_new, self._book_name())
        subjects = await asyncio.to_thread(files.JobSubjects, self._program.folder(self._ranking().id))
        take = partial(files.import_judgements, judge=path.name, time=self._program.clock(), job=subjects)
        done = await asyncio.to_thread(take, book, found.judgements)
        self._notices.show_notice(quality.import_words(done, book.name, has_job=True), "done")
        self._prepare_anew()

    async def write_file(self, path: Path, form: Form) -> None:
        """Write the book, with the ids of the first ranking where the form has ids. Raises UserError."""
        book = await asyncio.to_thread(self._program.judgements.find, self._book_name())
        if book is None:
            raise UsageError(tr("There is no judgement to write yet."))
        count = await asyncio.to_thread(self._write_book, book, path, form)
        judgements = plural(count, "{n} judgement", "{n} judgements")
        self._notices.show_written(
            worded("Wrote {judgements} to “{name}”.", judgements=judgements, name=path.name), path
        )

    async def _import(self) -> None:
        path = await dialogs.open_file(
            self,
            tr("Take judgements in from a file"),
            filters=(tr("Judgements (*.csv *.tsv *.txt *.qrels *.jsonl)"), tr("All files (*)")),
            folder=self._program.remembered_folder(FolderUse.JUDGEMENTS),
        )
        if path is not None:
            await self.take_in(path)

    async def _export(self, form: Form) -> None:
        name, folder = f"{self._book_name()}.{_SUFFIXES[form]}", self._program.remembered_folder(FolderUse.JUDGEMENTS)
        path = await dialogs.save_file(self, tr("Save judgements"), name=name, folder=folder)
        if path is not None:
            await self.write_file(path, form)

    def _write_book(self, book: Book, path: Path, form: Form) -> int:
        if not form.has_ids_only:
            return files.write_judgements(book, path, form)
        job = self._ranking()
        folder = self._program.folder(job.id)
        labels = label_judgements(read_run(folder, job), time=self._program.clock())
        return files.write_judgements(book, path, form, files.JobSubjects(folder), labels=labels)


def _grades_in_words(disagreement: Sequence[Judgement], scale: Scale) -> str:
    pairs = ((each.judge, said(scale.name_of(each.grade or 0))) for each in disagreement)
    return " · ".join(worded("{judge}: {grade}", judge=judge, grade=grade) for judge, grade in pairs)
