"""The page on which texts are judged by single keys, one after the other, and judgements in and out of files."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QCompleter,
    QLineEdit,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.evaluation.joining import Run, label_judgements, read_run
from cfbatch_gui.core.evaluation.judged import Pool, keep_labels, make_pool
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements.book import Book, disagreeing
from cfbatch_gui.core.judgements.files import (
    Form,
    JobSubjects,
    check_all_read,
    import_judgements,
    read_judgements,
    write_judgements,
)
from cfbatch_gui.core.judgements.session import Session, Shown, between_judges, with_themselves
from cfbatch_gui.core.judgements.values import FOUR, THREE, TWO, Grade, Judgement, Scale, Source, own_scale
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.notices import Notices, PageUndo, announce
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    Card,
    Choice,
    Clickable,
    ElidedLabel,
    EmptyPlace,
    Flow,
    IconLine,
    Label,
    LinkButton,
    MenuButton,
    PageHeader,
    PrimaryButton,
    QuietButton,
    Roomy,
    ThinProgress,
    boxed,
    column,
    form,
    line,
    restyle,
    row,
    scrolled,
)
from cfbatch_gui.ui.widgets.text_panel import PlainText
from cfbatch_gui.words import figures, quality
from cfbatch_gui.words.languages import said, tr

_WIDEST_NAME = 180  # pixels; a longer one ends in "…"


class KeyCap(Label):
    def __init__(self, text: str) -> None:
        super().__init__(text, "small")
        self.setProperty("kind", "key")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)


class _GradeCard(Clickable):
    def __init__(self, grade: Grade) -> None:
        super().__init__()
        self.grade = grade
        self.setProperty("kind", "choice")
        self.setProperty("selected", "false")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        words, explained = said(grade.name), said(grade.meaning)
        self.setAccessibleName(words)
        self.setAccessibleDescription(explained)
        name, meaning = ElidedLabel(words, "strong"), ElidedLabel(explained, "small")
        margins = (LARGE, MEDIUM, SMALL, MEDIUM)
        self.setLayout(column(row(KeyCap(str(grade.value)), None), TINY, name, meaning, gap=2, margins=margins))
        self.setMinimumWidth(min(name.sizeHint().width(), scaled(_WIDEST_NAME)) + LARGE + SMALL + 2)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def set_chosen(self, chosen: bool) -> None:
        restyle(self, "selected", "true" if chosen else "false")


_FEWEST_LINES = 2  # of the text, in a small window
_LONGEST = 50_000  # characters of a text that are laid out
_MINUTE = 60.0  # seconds


class JudgingView(QWidget):
    """`answer` is called with a grade, or None for "cannot tell"; `undo` goes back to the text before."""

    accessible_role = QAccessible.Role.Document

    def __init__(self, answer: Callable[[int | None], object], undo: Callable[[], object]) -> None:
        super().__init__()
        self._answer, self._go_back = answer, undo
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._grades = 0
        self._count, self._left, self._query_number = Label("", "strong"), Label("", "quiet"), Label("", "quiet")
        self.progress = ThinProgress()
        self._query = Label("", "title", wrap=True)
        self._given = Label("", "attention", wrap=True)
        self._text = _LargeText(self.tr("The text to judge"))
        self._cards = Flow(gap=MEDIUM)
        self.cards: list[_GradeCard] = []
        self._note = QLineEdit()
        self._note.setPlaceholderText(self.tr("A note on this text; Enter goes on"))
        self._note.setAccessibleName(self.tr("Note"))
        self._note.setMaxLength(2000)
        self._note.returnPressed.connect(self._leave_note)
        self._note.hide()
        self._saved = Label("", "quiet")
        self._foot = IconLine("", "eye-off")
        card = Card((self._text, 1), inset=True, margins=(WIDE, MEDIUM, SMALL, MEDIUM))
        self._make_links()
        content = column(
            row(self._count, MEDIUM, self._left, None, self._query_number),
            self.progress,
            LARGE,
            Label(self.tr("Somebody asks"), "quiet"),
            self._query,
            SMALL,
            Label(self.tr("Would this text help?"), "quiet"),
            self._given,
            (card, 3),
            SMALL,
            boxed(self._cards),
            self._note,
            self._keys,
            None,
            margins=(WIDE, SMALL, WIDE, LARGE),
        )
        foot = column(self._foot, margins=(WIDE, SMALL, WIDE, MEDIUM))
        self.setLayout(column((content, 1), line(), foot, gap=0))

    def _make_links(self) -> None:
        self._untold = LinkButton(self.tr("Cannot tell"), on_click=lambda: self._answer(None))
        self._undo = LinkButton(self.tr("Undo"), on_click=self._go_back)
        self._write = LinkButton(self.tr("Note"), on_click=self._open_note)
        for link in (self._untold, self._undo, self._write):
            link.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # each has a key, and Space is one of them
        pairs = ((self.tr("Space"), self._untold), ("⌫", self._undo), ("N", self._write))
        hints = [boxed(row(KeyCap(key), link, gap=TINY)) for key, link in pairs]
        self._keys = column(boxed(Flow(*hints, None, self._saved, gap=LARGE)), margins=(0, SMALL, 0, 0))

    def show_scale(self, scale: Scale, foot: str) -> None:
        self._grades = len(scale.grades)
        for card in self.cards:
            self._cards.removeWidget(card)
            card.deleteLater()
        self.cards = [_GradeCard(grade) for grade in scale.grades]
        for card in self.cards:
            card.clicked.connect(partial(self._answer, card.grade.value))
            self._cards.addWidget(card)
        self._foot.set_line(foot)

    def show_pair(self, shown: Shown, *, chosen: int | None = None, given: str = "") -> None:
        self._query.setText(shown.query.text or shown.query.id)
        self._text.show_text(shown.document.text or shown.document.id)
        self._given.setText(given)
        self._given.setVisible(bool(given))
        for card in self.cards:
            card.set_chosen(card.grade.value == chosen)
        self._note.clear()
        self._note.hide()
        self.setAccessibleName(self._query.text())
        self.setAccessibleDescription(self._text.toPlainText())
        announce(self, f"{self._query.text()}: {self._text.toPlainText()}")

    def show_progress(self, done: int, total: int, seconds: float, query: str) -> None:
        self._count.setText(self.tr("{n} of {all}").format(n=figures.number(done), all=figures.number(total)))
        self._left.setText(_time_left(seconds) if done < total else "")
        self._query_number.setText(query)
        self.progress.set_parts(done, total)
        self._undo.setEnabled(done > 0)
        self._saved.setText(self.tr("Saved") if done else "")

    def note(self) -> str:
        return self._note.text().strip()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        has_modifier = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
        if event.isAutoRepeat() or has_modifier:
            super().keyPressEvent(event)
        elif event.text().isdecimal() and event.text().isascii() and int(event.text()) < self._grades:
            self._answer(int(event.text()))
        elif event.key() == Qt.Key.Key_Space:
            self._answer(None)
        elif event.key() == Qt.Key.Key_Backspace:
            self._go_back()
        elif event.key() == Qt.Key.Key_N:
            self._open_note()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            QAbstractScrollArea.keyPressEvent(self._text, event)
        else:
            super().keyPressEvent(event)

    def _open_note(self) -> None:
        self._note.show()
        self._note.setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave_note(self) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)


class _LargeText(PlainText):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setProperty("kind", "large")

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), _FEWEST_LINES * self.fontMetrics().lineSpacing())

    def show_text(self, text: str) -> None:
        self.setPlainText(text[:_LONGEST] + ("…" if len(text) > _LONGEST else ""))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # the page has the keys, also after a click into the text


def _time_left(seconds: float) -> str:
    minutes = round(seconds / _MINUTE)
    if minutes < 1:
        return tr("less than a minute left")
    return figures.plural(minutes, "about {n} minute left", "about {n} minutes left")


_SECONDS_A_TEXT = 8
_TOPS = (3, 5, 10, 20)
_OWN = "own"
_WIDTH = 640


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
        self._runs: tuple[Run, ...] = ()
        self._prepared: _Prepared | None = None
        self.session: Session | None = None  # the judging that is going on
        self._book: Book | None = None
        self._words: list[tuple[str, str]] = []  # beside the progress and above the text, for each pair
        self.tasks = Tasks(self, self._show_error)
        self.header = PageHeader(self.tr("Judge"))
        self.pause_button = QuietButton("", on_click=self._leave)
        self.files_button = MenuButton(self.tr("Files"))
        self.files_button.add(self.tr("Import judgements…"), lambda: self.tasks.start("files", self._import()))
        forms = {
            Form.CSV: self.tr("Save as CSV with texts…"),
            Form.TREC: self.tr("Save as TREC qrels…"),
            Form.BEIR: self.tr("Save as TSV for BEIR…"),
            Form.QUEPID: self.tr("Save as CSV for Quepid…"),
            Form.LINES: self.tr("Save everything as JSON Lines…"),
        }
        for each, name in forms.items():
            self.files_button.add(name, partial(self._start_export, each))
        self.header.add_button(self.files_button)
        self.header.add_button(self.pause_button)
        undo = partial(self._write, self._undo)
        self._make_fields()
        self.start = self._start_page()
        self.view = JudgingView(lambda grade: self._write(partial(self._answer, grade)), undo)
        self.end = EmptyPlace("circle-check", "", self.tr("Show the result"))
        self._pages = QStackedWidget()
        for page in (self.start, self.view, self.end):
            self._pages.addWidget(page)
        self.setLayout(column(self.header, 6, Roomy(self._pages), gap=0))
        self.end.pressed.connect(self._leave)
        self._page_undo = PageUndo(self, notices.undos, self.tr("Undo the last judgement"), undo)

    def judge(self, jobs: Sequence[Job]) -> None:
        self.jobs, self._runs, self.session, self._prepared = tuple(jobs), (), None, None
        self._page_undo.show(False)
        self.header.set_facts(*(job.name for job in jobs))
        self._show_way_out(judging=False)
        self._show_possible("")
        self._pages.setCurrentWidget(self.start)
        self.tasks.start("read", self._read())

    # Making

    def _make_fields(self) -> None:
        self.book, self.judge_name, self.grades = QLineEdit(), QLineEdit(), QLineEdit()
        for field in (self.book, self.judge_name):
            field.setMaxLength(80)
        self.judge_name.setPlaceholderText(self.tr("me"))
        self.grades.setPlaceholderText(self.tr("the least relevant first, separated by commas"))
        tops = [(self.tr("the first {n} of each").format(n=count), count) for count in _TOPS]
        self.tops = Choice(self.tr("How many of each ranking"), tops, self._prepare_anew)
        self.tops.set_value(10)
        self.scales = Choice(self.tr("Grades"), on_picked=self._prepare_anew)
        for field in (self.book, self.judge_name, self.grades):
            field.editingFinished.connect(self._prepare_anew)
        self.counts = Label("", "strong", wrap=True)
        self.trouble = Label("", "error", wrap=True)
        self.begin_button = PrimaryButton(
            self.tr("Start judging"), "play", lambda: self.tasks.start("begin", self._begin())
        )
        self.settle_button = QuietButton(on_click=lambda: self.tasks.start("begin", self._begin(settles=True)))

    def _start_page(self) -> QWidget:
        self._form = form(gap=LARGE)
        fields: tuple[tuple[str, QWidget], ...] = (
            (self.tr("Judgements saved as"), self.book),
            (self.tr("Your name"), self.judge_name),
            (self.tr("Texts to judge"), self.tops),
            (self.tr("Grades"), self.scales),
            (self.tr("Your words"), self.grades),
        )
        for name, field in fields:
            field.setAccessibleName(name)
            label = Label(name, "quiet")
            label.setBuddy(field)
            self._form.addRow(label, field)
        explained = self.tr(
            "You see one text at a time and say with one key how well it answers its query. Scores, ranks and jobs stay"
            " hidden, so that they cannot sway you. Every answer is saved at once; stop whenever you like."
        )
        buttons = row(self.begin_button, self.settle_button, None)
        parts = (Label(explained, "body", wrap=True), SMALL, self._form, SMALL, self.counts, self.trouble, buttons)
        card = Card(*parts, margins=(WIDE, 20, WIDE, 20))
        card.setMaximumWidth(scaled(_WIDTH))
        return scrolled(boxed(column(row(card, None), None, margins=(WIDE, LARGE, WIDE, LARGE))))

    # Before

    async def _read(self) -> None:
        self._runs = await asyncio.to_thread(
            lambda: tuple(read_run(self._program.folder(job.id), job) for job in self.jobs)
        )
        judgements = self._program.judgements
        names = await asyncio.to_thread(judgements.names)
        completer = QCompleter(list(names), self.book)
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
        judge = " ".join(self.judge_name.text().split()) or self.tr("me")
        try:
            book = await asyncio.to_thread(judgements.find, name)
            scale = self._chosen_scale(book)
            top = self.tops.currentData()
            pool = await asyncio.to_thread(make_pool, self._runs, book, judge=judge, k=top)
            found = await asyncio.to_thread(disagreeing, book) if book is not None else []
        except UserError as error:
            self._show_possible(said(error.message))
            return
        self._prepared = _Prepared(judge, scale, pool, found)
        self._show_counts(pool, top)
        self._show_possible("")
        for sentence in book.damage if book is not None else ():
            self._notices.show_notice(said(sentence), "attention")

    def _chosen_scale(self, book: Book | None) -> Scale:
        """That of the book, which cannot be changed; a new book has the one that the user chooses. Raises UsageError
        for words that make none.
        """
        shown = (TWO, THREE, FOUR) if book is None else (book.scale,)
        offered: list[tuple[str, object]] = [(" · ".join(said(each.name) for each in one.grades), one) for one in shown]
        own = [(self.tr("Words of your own…"), _OWN)] if book is None else []
        self.scales.refill([*offered, *own], FOUR)
        self.scales.setEnabled(book is None)
        chosen = self.scales.value()
        self._form.setRowVisible(self.grades, chosen == _OWN)
        if isinstance(chosen, Scale):
            return chosen
        if not self.grades.text().strip():
            raise UsageError(self.tr("Type the words for your grades, the least relevant first."))
        return own_scale(tuple(self.grades.text().split(",")))

    def _show_counts(self, pool: Pool, top: int) -> None:
        of_queries = figures.plural(pool.queries, "{n} query", "{n} queries")
        texts = figures.plural(pool.texts, "{n} text", "{n} texts")
        pattern = self.tr("top {k} of each, {texts} for {queries}")
        self.header.set_facts(*(job.name for job in self.jobs), pattern.format(k=top, texts=texts, queries=of_queries))
        words = self.tr("All of these texts are judged already.")
        if pool.items:
            minutes = max(1, round(len(pool.items) * _SECONDS_A_TEXT / _MINUTE))
            time = figures.plural(minutes, "{n} minute", "{n} minutes")
            fresh, judged = figures.number(pool.fresh), figures.number(pool.judged)
            pattern = self.tr("Texts to judge: {n}, about {time}. Judged already: {judged}.")
            words = pattern.format(n=fresh, time=time, judged=judged)
        self.counts.setText(words)

    def _show_possible(self, trouble: str) -> None:
        prepared = self._prepared
        self.trouble.setText(trouble)
        self.trouble.setVisible(bool(trouble))
        self.begin_button.setEnabled(prepared is not None and bool(prepared.pool.items))
        found = len(prepared.disagreements) if prepared is not None else 0
        self.settle_button.setText(figures.plural(found, "Settle {n} disagreement", "Settle {n} disagreements"))
        self.settle_button.setVisible(found > 0)

    # Judging

    async def _begin(self, *, settles: bool = False) -> None:
        """Judge what is in the pool, or have the last word where the judges disagree."""
        await self._prepare()
        prepared = self._prepared
        if prepared is None or not (prepared.disagreements if settles else prepared.pool.items):
            return
        items = prepared.pool.items
        self._book = book = await self._open_book(prepared)
        if settles:
            pairs, source = [Shown(each.query, each.document) for each, *_ in prepared.disagreements], Source.SETTLED
            foot = self.tr("The judges disagree about these texts. Your answer is the last word; theirs are kept.")
            self._words = [("", self._grades_in_words(each, book)) for each in prepared.disagreements]
        else:
            pairs, source = list(items), Source.PERSON
            foot = self.tr("Score, rank and job are hidden here, so that they cannot sway you.")
            if any(pair.again for pair in pairs):
                foot += " " + self.tr("Some texts come twice, to see how steady judgements are.")
            queries, pattern = figures.number(prepared.pool.queries), self.tr("Query {n} of {all}")
            self._words = [(pattern.format(n=figures.number(item.query_number), all=queries), "") for item in items]
        self.session = Session(book, pairs, judge=prepared.judge, clock=self._program.clock, source=source)
        self.view.show_scale(book.scale, foot)
        self._show_way_out(judging=True)
        self._show_current()
        self._pages.setCurrentWidget(self.view)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    async def _open_book(self, prepared: _Prepared) -> Book:
        judgements = self._program.judgements
        book = await asyncio.to_thread(judgements.book_or_new, self._book_name(), prepared.scale)
        await self._program.keep_settings(judgement_book=book.name, judge=prepared.judge)
        for run in self._runs:
            await asyncio.to_thread(keep_labels, judgements, run, time=self._program.clock())
        return book

    def _grades_in_words(self, disagreement: Sequence[Judgement], book: Book) -> str:
        pattern, scale = self.tr("{judge}: {grade}"), book.scale
        grades = ((each.judge, said(scale.name_of(each.grade or 0))) for each in disagreement)
        return " · ".join(pattern.format(judge=judge, grade=grade) for judge, grade in grades)

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
                self._pages.setCurrentWidget(self.view)
                self._show_current(chosen=grade)
                self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_current(self, *, chosen: int | None = None) -> None:
        session = self.session
        if session is None:
            return
        at = session.position
        self._page_undo.renew(at > 0)
        if session.current is None:
            self.tasks.start("end", self._show_end())
            return
        about, given = self._words[at]
        self.view.show_pair(session.current, chosen=chosen, given=given)
        self.view.show_progress(at, len(session), session.seconds_left(), about)

    # After

    async def _show_end(self) -> None:
        session, book = self.session, self._book
        if session is None or book is None:
            return
        words = [figures.plural(session.texts, "{n} text is judged.", "All {n} texts are judged.")]
        for pattern, agreement in (
            (self.tr("Texts that came twice: {agreement}."), with_themselves),
            (self.tr("With other judges: {agreement}."), between_judges),
        ):
            found = await asyncio.to_thread(agreement, book)
            if found.pairs:
                words.append(pattern.format(agreement=quality.agreement_words(found)))
        self.end.set_sentence(" ".join(words))
        several = len(self.jobs) > 1
        self.end.button.setText(self.tr("Show which is better") if several else self.tr("Show the quality"))
        self._pages.setCurrentWidget(self.end)
        self._show_way_out(judging=False)
        self.end.button.setFocus(Qt.FocusReason.OtherFocusReason)
        await asyncio.to_thread(book.back_up_if_changed)

    def _show_way_out(self, *, judging: bool) -> None:
        self.files_button.setVisible(not judging)
        self.pause_button.setText(self.tr("Pause") if judging else self.tr("Back"))
        self.pause_button.set_icon("pause" if judging else "chevron-left")

    def _leave(self) -> None:
        self.done.emit([job.id for job in self.jobs])

    def _show_error(self, error: UserError) -> None:
        if not self._runs:
            self._show_possible(said(error.message))
            return
        self._notices.show_error(error)

    # Judgements in and out of files

    def _book_name(self) -> str:
        return self.book.text().strip() or self._program.judgements.used_name()

    async def take_in(self, path: Path) -> None:
        """Import a file beside the first job. Raises UserError; nothing is taken in part."""
        found = await asyncio.to_thread(read_judgements, path)
        check_all_read(found)
        book = await asyncio.to_thread(self._program.judgements.book_or_new, self._book_name())
        subjects = await asyncio.to_thread(self._subjects)
        done = await asyncio.to_thread(
            lambda: import_judgements(book, found.judgements, judge=path.name, time=self._program.clock(), job=subjects)
        )
        self._notices.show_notice(quality.import_words(done, book.name, has_job=True), "done")
        self._prepare_anew()

    async def write_file(self, path: Path, form: Form) -> None:
        """Write the book, with the ids of the first job where the form has ids. Raises UserError."""
        book = await asyncio.to_thread(self._program.judgements.find, self._book_name())
        if book is None:
            raise UsageError(self.tr("There is no judgement to write yet."))
        count = await asyncio.to_thread(self._write_book, book, path, form)
        judgements = figures.plural(count, "{n} judgement", "{n} judgements")
        said = self.tr("Wrote {judgements} to “{name}”.").format(judgements=judgements, name=path.name)
        self._notices.show_written(said, path)

    async def _import(self) -> None:
        path = await dialogs.open_file(
            self,
            self.tr("Take judgements in from a file"),
            filters=(self.tr("Judgements (*.csv *.tsv *.txt *.qrels *.jsonl)"), self.tr("All files (*)")),
            folder=self._program.remembered_folder(FolderUse.JUDGEMENTS),
        )
        if path is not None:
            await self.take_in(path)

    def _start_export(self, form: Form) -> None:
        self.tasks.start("files", self._export(form))

    async def _export(self, form: Form) -> None:
        suffix = {Form.TREC: "qrels", Form.BEIR: "tsv", Form.LINES: "jsonl"}.get(form, "csv")
        path = await dialogs.save_file(
            self,
            self.tr("Save judgements"),
            name=f"{self._book_name()}.{suffix}",
            folder=self._program.remembered_folder(FolderUse.JUDGEMENTS),
        )
        if path is not None:
            await self.write_file(path, form)

    def _write_book(self, book: Book, path: Path, form: Form) -> int:
        if not form.has_ids_only:
            return write_judgements(book, path, form)
        run = read_run(self._program.folder(self.jobs[0].id), self.jobs[0])
        labels = label_judgements(run, time=self._program.clock())
        return write_judgements(book, path, form, self._subjects(), labels=labels)

    def _subjects(self) -> JobSubjects:
        return JobSubjects(self._program.folder(self.jobs[0].id))
