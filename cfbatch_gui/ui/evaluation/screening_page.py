"""The page on which records are screened by single keys, those most like a question first."""

import math
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAccessible, QFont, QFontInfo, QKeyEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QSizePolicy

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements.screening import Screening
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.list_rows import ListColumns, ListRow, list_columns
from cfbatch_gui.core.results.screening import Flow, Verdict
from cfbatch_gui.core.results.text_search import word_spans, words_of
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.ui import theme, widgets
from cfbatch_gui.ui.evaluation.judge_page import key_cap
from cfbatch_gui.ui.evaluation.review_page import DecidedView, DecidingPage
from cfbatch_gui.ui.notices import Notices, announce
from cfbatch_gui.ui.results.results_page import named_cells
from cfbatch_gui.ui.results.screening_entry import open_screening
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import Label, LinkButton, boxed, row
from cfbatch_gui.ui.widgets.marks import spans_in_units
from cfbatch_gui.ui.widgets.text_panel import PlainText
from cfbatch_gui.words.figures import Runs, emphasised, number, one_line, plain, score_text, worded
from cfbatch_gui.words.languages import tr

_CARD, _LEAST_TEXT = 52, 120  # pixels
_LONGEST, _LONGEST_LAST = 100_000, 60  # characters of a record, and of the last one
_TITLES = ("title", "article title", "primary title", "titel")
_ABOUT = (
    ("authors", "author", "autoren", "autor"),
    ("year", "publication year", "jahr"),
    ("journal", "source title", "publication title", "zeitschrift"),
)
_ABSTRACTS = ("abstract", "abstract note", "zusammenfassung")
# Before each part of a record, pixels more than usual, and the colour.
_LOOKS = (("", 7, "text"), ("\n", -2, "quiet"), ("\n\n", 0, "text"), ("\n\n", -2, "quiet"))
_COUNTS = ("identified", "duplicates", "screened", "included", "maybe", "excluded", "left")


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
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        words = widgets.IconLabel(icon, "accent", 18), Label(name, "strong")
        self.setLayout(row(*words, None, key_cap(letter), key_cap(str(digit)), margins=(MEDIUM, 0, MEDIUM, 0)))


class RecordText(PlainText):
    """The title of a record large, a line about it, what it says, and its other columns; `words` are marked."""

    _parts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def show_parts(self, *parts: str) -> None:
        self._parts = parts
        self.clear()
        cursor, size = QTextCursor(self.document()), QFontInfo(self.font()).pixelSize()
        for text, (before, larger, colour) in zip(parts, _LOOKS, strict=True):
            form = QTextCharFormat()
            form.setProperty(QTextCharFormat.Property.FontPixelSize.value, size + larger)
            form.setFontWeight(QFont.Weight.DemiBold if larger > 0 else QFont.Weight.Normal)
            form.setForeground(theme.colour(colour))
            if text:
                cursor.insertText((before if cursor.position() else "") + text[:_LONGEST], form)
        self.moveCursor(QTextCursor.MoveOperation.Start)
        whole = self.toPlainText()
        self.mark_spans(spans_in_units(whole, word_spans(whole, self.words)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and self._parts:
            self.show_parts(*self._parts)  # in the colours of the theme


class ScreeningView(DecidedView):
    """`look` shows the duplicates."""

    def __init__(
        self, decide: Callable[[Verdict], object], take_back: Callable[[], object], look: Callable[[], object]
    ) -> None:
        super().__init__()
        self._rank, self.text, self.flow = Label("", "strong"), RecordText(tr("The record")), widgets.Phrase()
        self.text.setProperty("kind", "large")
        self.text.setMinimumHeight(scaled(_LEAST_TEXT))
        self.look, back = LinkButton(tr("Look at the duplicates"), "copy", look), LinkButton(tr("Take back"))
        back.clicked.connect(take_back)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)  # arrows scroll
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.keyboard = self.text  # which leaves other keys to the page; with a proxy Tab would leave links out
        choices = enumerate(_verdicts().items(), 1)
        self.cards = {said: VerdictCard(digit, *words, partial(decide, said)) for digit, (said, words) in choices}
        self.lay_out(
            self._saved,
            SMALL,
            row(self._rank, None, self.look),
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
        flow, score = session.flow, session.score
        self.show_progress(flow.screened, flow.screened + flow.left, session.seconds_left())
        self.show_last(_last_words(session))
        self.flow.set_runs(_flow_runs(flow))
        self.look.setVisible(flow.duplicates > 0)
        said = tr("No vector") if math.isnan(score) else score_text(score)
        self._rank.setText(worded("Rank {n} · {score}", n=session.place + 1, score=said))
        self.text.words = words_of(session.records.job.options.screening)
        self.text.show_parts(*record_parts(record, columns))
        self.setAccessibleName(self._rank.text())
        self.setAccessibleDescription(self.text.toPlainText())
        announce(self, f"{self._rank.text()}: {self.text.toPlainText()}")


def record_parts(record: ListRow, columns: ListColumns) -> tuple[str, str, str, str]:
    """Its title; who wrote it, when and where; what it says; and its other columns. Without a title it is all text."""
    cells = {columns.names[at].casefold(): record.cells[at] for at in columns.kept if record.cells}
    shown = [next(filter(None, map(cells.get, names)), "") for names in (_TITLES, *_ABOUT, _ABSTRACTS)]
    title, *about, abstract = shown
    says = abstract if title and abstract else record.text.removeprefix(title).lstrip(" .")
    others = [(columns.names[at], record.cells[at]) for at in columns.others if record.cells]
    rest = named_cells([name for name, _ in others], [cell for _, cell in others], *shown)
    return title, " · ".join(filter(None, about)), says, rest


def _flow_runs(flow: Flow) -> Runs:
    """As a PRISMA flow diagram wants them."""
    return emphasised(
        "Identified {identified} · Duplicates {duplicates} · Screened {screened} (included {included}, maybe {maybe},"
        " excluded {excluded}) · Left {left}",
        **{name: number(getattr(flow, name)) for name in _COUNTS},
    )


def _last_words(session: Screening) -> str:
    if not session.given:
        return ""
    place, _ = session.given[-1]
    text, verdict = one_line(session.texts[place], _LONGEST_LAST), session.verdicts[place] or Verdict.MAYBE
    return worded("Before: {verdict} · “{text}”", text=text, verdict=_verdicts()[verdict][1])


class ScreeningPage(DecidingPage[Screening]):
    """`export_wanted` brings the id of the job."""

    export_wanted = Signal(str)

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, title=tr("Screening"), undo=tr("Undo the last decision"), tab="search")
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
        for digit, (verdict, (letter, *_)) in enumerate(_verdicts().items(), 1):
            if event.text().casefold() in (str(digit), letter.casefold()):
                self._decide(verdict)
                return True
        return False

    def show_next(self, session: Screening) -> str:
        if session.record is None:
            return worded("Every record is screened. {counts}", counts=plain(_flow_runs(session.flow)))
        self.view.show_record(session, session.record, self._columns)
        return ""

    def _decide(self, verdict: Verdict) -> None:
        if (session := self.session) is not None:
            self.write(partial(session.decide, verdict))
