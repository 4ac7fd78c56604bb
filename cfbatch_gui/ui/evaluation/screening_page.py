"""The page on which records are screened by single keys, those most like a question first."""

import math
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAccessible, QFont, QFontInfo, QKeyEvent, QKeySequence, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QAbstractScrollArea, QSizePolicy

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements.screening import Screening
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.list_rows import ListColumns, ListRow, list_columns
from cfbatch_gui.core.results.screening import Verdict
from cfbatch_gui.core.results.text_search import word_spans, words_of
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.ui import theme, widgets
from cfbatch_gui.ui.evaluation.deciding_page import DecidingPage
from cfbatch_gui.ui.evaluation.judge_page import OneByOne, key_cap
from cfbatch_gui.ui.notices import Notices, announce
from cfbatch_gui.ui.results.results_page import named_cells
from cfbatch_gui.ui.results.screening_entry import open_screening
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import ElidedLabel, Label, LinkButton, StateLabel, boxed, row
from cfbatch_gui.ui.widgets.bars import Bar
from cfbatch_gui.ui.widgets.marks import spans_in_units
from cfbatch_gui.ui.widgets.text_panel import PlainText
from cfbatch_gui.words.figures import one_line, plain, score_text, worded
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.screening import flow_runs

_BAR, _BAR_HEIGHT, _CARD, _LEAST_TEXT, _LAST = 110, 6, 52, 120, 40  # pixels
_LONGEST, _LONGEST_LAST = 100_000, 60  # characters of a record, and of the last one's title
_TITLES = ("title", "article title", "primary title", "titel")
_ABSTRACTS = ("abstract", "abstract note", "zusammenfassung")
_ABOUT = (
    ("authors", "author", "autoren", "autor"),
    ("year", "publication year", "jahr"),
    ("journal", "source title", "publication title", "zeitschrift"),
)
_SCROLLS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


def _verdicts() -> dict[Verdict, tuple[str, str, str]]:
    """The letter, the name and the icon of each, in the order of their digits."""
    return {
        Verdict.INCLUDE: (tr("I", "key that includes"), tr("Include"), "check"),
        Verdict.MAYBE: (tr("M", "key that says maybe"), tr("Maybe"), "circle-help"),
        Verdict.EXCLUDE: (tr("E", "key that excludes"), tr("Exclude"), "x"),
    }


class VerdictCard(widgets.Clickable):
    accessible_role = QAccessible.Role.Button

    def __init__(self, digit: int, letter: str, name: str, icon: str, on_chosen: Callable[[], object]) -> None:
        super().__init__()
        self.clicked.connect(on_chosen)
        self.setProperty("kind", "choice")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedHeight(scaled(_CARD))
        self.setAccessibleName(name)
        words = row(widgets.IconLabel(icon, "accent", 18), Label(name, "strong"))
        keys = row(key_cap(letter), key_cap(str(digit)), gap=TINY)
        self.setLayout(row(words, None, keys, margins=(MEDIUM, 0, MEDIUM, 0)))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)


class RecordText(PlainText):
    """The title large, a line about it, what it says, and its other columns."""

    _parts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # that are marked

    def __init__(self) -> None:
        super().__init__(tr("The record"))
        self.setProperty("kind", "large")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the page has the keys, also after a click into the text
        self.setMinimumHeight(scaled(_LEAST_TEXT))

    def show_parts(self, *parts: str) -> None:
        self._parts = parts
        self.clear()
        cursor, size = QTextCursor(self.document()), QFontInfo(self.font()).pixelSize()
        for text, look in zip(parts, ((7, "text"), (-2, "quiet"), (0, "text"), (-2, "quiet")), strict=True):
            form, font = QTextCharFormat(), QFont(self.font())
            font.setPixelSize(size + look[0])
            font.setWeight(QFont.Weight.DemiBold if look[0] > 0 else QFont.Weight.Normal)
            form.setFont(font)
            form.setForeground(theme.colour(look[1]))
            if text:
                between = "" if self.document().isEmpty() else "\n\n" if look[0] >= 0 or text == parts[3] else "\n"
                cursor.insertText(between + text[:_LONGEST] + ("…" if len(text) > _LONGEST else ""), form)
        self.moveCursor(QTextCursor.MoveOperation.Start)
        text = self.toPlainText()
        self.mark_spans(spans_in_units(text, word_spans(text, self.words)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and self._parts:
            self.show_parts(*self._parts)  # in the colours of the theme


class ScreeningView(OneByOne):
    def __init__(
        self, decide: Callable[[Verdict], object], take_back: Callable[[], object], look: Callable[[], object]
    ) -> None:
        """`look` shows the duplicates."""
        super().__init__()
        self._saved, self._rank, self._score, self._bar = StateLabel(), Label("", "strong"), Label(), Bar()
        self._bar.setFixedSize(scaled(_BAR), _BAR_HEIGHT)
        self._last = ElidedLabel("", "quiet")
        self._last.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._last.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._last.setMinimumWidth(scaled(_LAST))
        self.text, self.flow = RecordText(), widgets.Phrase()
        self.look = LinkButton(tr("Look at the duplicates"), "copy", look)
        self.cards = {
            verdict: VerdictCard(digit, *words, partial(decide, verdict))
            for digit, (verdict, words) in enumerate(_verdicts().items(), 1)
        }
        back = LinkButton(tr("Take back"), on_click=take_back)
        for link in (back, self.look):
            link.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.lay_out(
            self._saved,
            SMALL,
            row(self._rank, MEDIUM, self._score, self._bar, None, self.look),
            (widgets.Card((self.text, 1), inset=True, margins=(WIDE, MEDIUM, SMALL, MEDIUM)), 1000),
            TINY,
            boxed(widgets.Flow(*self.cards.values(), gap=MEDIUM)),
            TINY,
            row(key_cap("⌫"), back, LARGE, (self._last, 1)),
            foot=self.flow,
            top=0,
            bottom=MEDIUM,
        )

    def show_record(self, session: Screening, record: ListRow, columns: ListColumns) -> None:
        flow = session.flow
        self.show_progress(flow.screened, flow.identified - flow.duplicates, session.seconds_left())
        self.flow.set_runs(flow_runs(flow))
        self.look.setVisible(flow.duplicates > 0)
        self._saved.set_state(tr("Saved"), "check", "done")
        self._saved.setVisible(bool(session.given))
        self._last.setText(_last_words(session))
        self._rank.setText(worded("Rank {n}", n=session.place + 1))
        has_score = not math.isnan(session.score)
        self._score.setText(score_text(session.score) if has_score else tr("No vector"))
        self._bar.share = session.score if has_score else 0.0
        self._bar.update()
        self.text.words = words_of(session.records.job.options.screening)
        self.text.show_parts(*record_parts(record, columns))
        self.setAccessibleName(self._rank.text())
        self.setAccessibleDescription(self.text.toPlainText())
        announce(self, f"{self._rank.text()}: {self.text.toPlainText()}")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.text.copy()
        elif event.key() in _SCROLLS:
            QAbstractScrollArea.keyPressEvent(self.text, event)
        else:
            super().keyPressEvent(event)


def record_parts(record: ListRow, columns: ListColumns) -> tuple[str, str, str, str]:
    """Its title, a line of who wrote it, when and where, what it says, and its other columns; a record without a title
    of its own is what it says.
    """
    cells = {columns.names[at].casefold(): record.cells[at] for at in columns.kept if record.cells}
    used: set[str] = set()

    def take(names: tuple[str, ...]) -> str:
        name = next((name for name in names if cells.get(name)), "")
        used.add(name)
        return cells.get(name, "")

    title = take(_TITLES)
    about = " · ".join(filter(None, map(take, _ABOUT)))
    says = take(_ABSTRACTS) if title else record.text
    if title and not says:
        says = record.text.removeprefix(title).lstrip(" .")
    others = [at for at in columns.others if record.cells and columns.names[at].casefold() not in used]
    return title, about, says, named_cells([columns.names[at] for at in others], [record.cells[at] for at in others])


def _last_words(session: Screening) -> str:
    if not session.given:
        return ""
    place, _ = session.given[-1]
    words = {
        Verdict.INCLUDE: tr("Before: “{text}” was included"),
        Verdict.MAYBE: tr("Before: “{text}” may be included"),
        Verdict.EXCLUDE: tr("Before: “{text}” was excluded"),
    }
    verdict, text = session.verdicts[place], one_line(session.texts[place], _LONGEST_LAST)
    return words[verdict].format(text=text) if verdict is not None else ""


class ScreeningPage(DecidingPage[Screening]):
    """`export_wanted` brings the id of the job."""

    export_wanted = Signal(str)

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, title=tr("Screening"), undo=tr("Undo the last verdict"), tab="search")
        self._columns = ListColumns((), ())
        self.view = ScreeningView(self._decide, self.take_back, lambda: self.leave("duplicates"))
        self.lay_out(self.view, tr("Export…"), lambda: self.export_wanted.emit(self.job_id))

    def screen_records(self, job: Job) -> None:
        question = worded("the most like “{text}” first", text=job.options.screening)
        self.begin(job, question, tr("Putting the records in order…"), partial(in_thread, self._read, job))

    def _read(self, job: Job) -> Screening:
        with self.program.folder(job.id).open(read_only=True) as database:
            self._columns, _ = list_columns(database)
        return open_screening(self.program, job)

    def take_key(self, event: QKeyEvent) -> bool:
        said = event.text().casefold()
        for digit, (verdict, (letter, *_)) in enumerate(_verdicts().items(), 1):
            if said in (str(digit), letter.casefold()):
                self._decide(verdict)
                return True
        return False

    def show_next(self, session: Screening) -> str:
        if session.record is None:
            return worded("Every record is screened. {counts}", counts=plain(flow_runs(session.flow)))
        self.view.show_record(session, session.record, self._columns)
        return ""

    def _decide(self, verdict: Verdict) -> None:
        if (session := self.session) is not None:
            self.write(partial(session.decide, verdict))
