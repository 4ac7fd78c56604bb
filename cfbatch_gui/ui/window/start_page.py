"""The page that asks what a new job is for: a tile for each purpose, and a place for files."""

from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLayout, QSizePolicy, QWidget

from cfbatch_gui.core.jobs.states import Purpose
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.ui import theme, widgets
from cfbatch_gui.ui.icons import paint_drawing
from cfbatch_gui.ui.job_actions import can_be_searched
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.theme import LARGE, MEDIUM, RADIUS_CARD, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import Button, Flow, IconLabel, Label, LinkButton, boxed, column, line, row, scrolled
from cfbatch_gui.ui.widgets.buttons import paint_focus_ring
from cfbatch_gui.ui.window.new_jobs import NewJobs
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.purposes import purpose_words

_PICTURE, _LOW_PICTURE = 113, 80  # pixels, where three tiles stand side by side, and two
_LEAST_TILE, _LEAST_WORDS, _BOTTOM = 248, 240, 36  # pixels
_TITLE, _SEARCH, _JOB = 330, 340, 170  # pixels of the question, of a search and of its job


class Tile(Button):
    """Begins a job for its purpose, or with the example that is made for it."""

    kind = "tile"

    def __init__(self, purpose: Purpose, new_jobs: NewJobs) -> None:
        words = purpose_words(purpose)
        super().__init__(on_click=partial(new_jobs.start, purpose=purpose))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(words.title)
        self.setAccessibleDescription(words.sentence)
        self._drawing, self._picture = purpose.value, 0
        self.example = LinkButton(tr("Start with an example"), "play", partial(new_jobs.try_example, purpose))
        self.example.setAccessibleName(f"{self.example.text()}: {words.title}")
        head = row(IconLabel(words.icon, "accent", 18), (Label(words.title, "part", wrap=True), 1))
        sentence = Label(words.sentence, "quiet", wrap=True)
        self._words = column(head, 6, sentence, None, SMALL, row(self.example, None), gap=0)
        self.setLayout(self._words)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # all equally wide

    def set_picture(self, pixels: int) -> None:
        self._picture = pixels
        self._words.setContentsMargins(17, pixels + 15, LARGE, 19)

    def sizeHint(self) -> QSize:
        return self._words.totalSizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._words.totalMinimumSize()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_picture(painter, QRectF(0, 0, self.width(), self._picture))
            if self.has_ring:
                paint_focus_ring(painter, self, RADIUS_CARD - 1)

    def _paint_picture(self, painter: QPainter, place: QRectF) -> None:
        frame, above = QPainterPath(), QPainterPath()
        frame.addRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), RADIUS_CARD - 1, RADIUS_CARD - 1)
        above.addRect(place)
        painter.fillPath(frame.intersected(above), theme.colour("inset"))
        painter.setPen(theme.colour("line"))
        painter.drawLine(place.bottomLeft() + QPointF(1, 0.5), place.bottomRight() + QPointF(-1, 0.5))
        paint_drawing(painter, place, self._drawing)


class StartPage(QWidget):
    """`search_wanted` brings the id of a finished job and what is to be looked for in its texts."""

    search_wanted = Signal(str, str)

    def __init__(self, program: Program, new_jobs: NewJobs, notices: Notices) -> None:
        super().__init__()
        self._program = program
        self.setAccessibleName(self.tr("What do you want to do?"))
        promise = self.tr("Your own sheet comes back with a column or two more. Nothing is sent before you say so.")
        words = (Label(self.accessibleName(), "display", wrap=True), Label(promise, "quiet", wrap=True))
        self.tiles = {purpose: Tile(purpose, new_jobs) for purpose in Purpose}
        self._columns, self._grid = 0, QGridLayout()
        self._grid.setSpacing(LARGE)
        self._arrange(3)  # before what follows in the order of Tab
        self.search_field = widgets.SearchField(self.tr("Search in a finished job"))
        self.search_field.setPlaceholderText(self.tr("Search in…"))
        self.search_field.returnPressed.connect(self._search)
        self.searched_job = widgets.Choice(self.tr("The job that is searched"))
        self.searched_job.setMaximumWidth(scaled(_JOB))
        self._search_bar = boxed(column(row((self.search_field, 1), self.searched_job), None))
        self._search_bar.setFixedWidth(scaled(_SEARCH))
        title = boxed(Flow(_beside_buttons(None, column(*words, gap=TINY), least=_TITLE), self._search_bar))
        self._question = column(title, MEDIUM + 1, self._grid, gap=TINY, margins=(WIDE, 18, WIDE, TINY))
        self._area = scrolled(boxed(self._question))
        self.open_button = widgets.PrimaryButton(self.tr("Open…"), "folder-open", new_jobs.choose_file)
        self.paste_button = Button(self.tr("Paste"), "clipboard-paste", new_jobs.paste)
        strip = boxed(column(self._strip(), margins=(WIDE, MEDIUM, WIDE, LARGE)))
        examples = self.tr("Examples run on this computer: free, without an account, and nothing leaves it.")
        connect = self.tr("Connect my Cloudflare account")
        self.connect_link = LinkButton(connect, "key-round", notices.connection_wanted.emit)
        said = _beside_buttons(IconLabel("flask-conical", "quiet", 15), Label(examples, "small", wrap=True), gap=SMALL)
        foot = boxed(column(boxed(Flow(said, self.connect_link)), margins=(18, 0, WIDE, 0)))
        foot.setMinimumHeight(scaled(_BOTTOM))
        self.setLayout(column((self._area, 1000), strip, None, line(), foot, gap=0))

    def _strip(self) -> QFrame:
        place = QFrame()
        place.setProperty("kind", "place")
        formats = self.tr("CSV, Excel and other sheets, plain text, Word, JSON, Parquet, or a folder of texts")
        self._formats = Label(formats, "small", wrap=True)
        words = column(
            None,
            Label(self.tr("Or start from your file: drop it anywhere in this window"), "strong", wrap=True),
            Label(
                self.tr("Two files suggest a match, questions beside answers a ranking. One click changes it."),
                "quiet",
                wrap=True,
            ),
            self._formats,
            None,
            gap=TINY,
        )
        said = _beside_buttons(IconLabel("file-up", "quiet", 28), words, gap=LARGE)
        place.setLayout(
            column(boxed(Flow(said, self.open_button, self.paste_button, gap=LARGE)), margins=(20, SMALL, 20, SMALL))
        )
        place.setMinimumHeight(scaled(98))
        return place

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = self.width() - 2 * WIDE
        self._arrange(max(1, min(3, (room + LARGE) // (scaled(_LEAST_TILE) + LARGE))))
        self._formats.setVisible(self._columns == 3)
        self._area.setMaximumHeight(self._question.totalHeightForWidth(self.width()))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.connect_link.setVisible(self._program.settings.connection in ("", PRACTICE.id))
        jobs = [each for each in self._program.ledger.jobs() if can_be_searched(each)]
        jobs.sort(key=lambda job: job.purpose is not Purpose.SEARCH)
        self.searched_job.refill((each.name, each.id) for each in jobs)
        self._search_bar.setVisible(bool(jobs))

    def _search(self) -> None:
        if text := self.search_field.text().strip():
            self.search_field.clear()
            self.search_wanted.emit(str(self.searched_job.value()), text)

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for at, tile in enumerate(self.tiles.values()):
            tile.set_picture(scaled(_PICTURE if columns == 3 else _LOW_PICTURE))
            self._grid.addWidget(tile, *divmod(at, columns))
        for at in range(3):
            self._grid.setColumnStretch(at, int(at < columns))


def _beside_buttons(
    icon: IconLabel | None, words: QWidget | QLayout, *, gap: int = 0, least: int = _LEAST_WORDS
) -> QWidget:
    """What takes the room that buttons leave, and stands above them where that is too little."""
    said = boxed(row(*([icon] if icon is not None else []), (words, 1), gap=gap))
    said.setMinimumWidth(scaled(least))
    said.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return said
