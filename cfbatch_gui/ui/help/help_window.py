"""The help: pages in Markdown that ship with the program, with pictures of it. Nothing is loaded from elsewhere."""

from enum import StrEnum

from PySide6.QtCore import QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QImage, QResizeEvent, QTextBlockFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QTextBrowser, QWidget

from cfbatch_gui.core.system.languages import ENGLISH, language_in_use
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui import theme
from cfbatch_gui.ui.key_names import in_help
from cfbatch_gui.ui.theme import LARGE, scaled
from cfbatch_gui.ui.widgets import column, split

_WIDTH, _HEIGHT = 900, 620  # pixels
_TOPICS_WIDTH = 220
_AFTER_ENTRY, _AFTER_PARAGRAPH = 6, 12  # pixels
_PICTURE = "\ufffc"  # stands for one in the text of a block
_LINE = 120.0  # percent of the usual height of a line


class Topic(StrEnum):
    """The pages, by the names of their files, in the order of the list."""

    FIRST_JOB = "first-job"
    FILES = "files"
    SENDING = "sending"
    SCORES = "scores"
    QUALITY = "quality"
    VECTORS = "vectors"
    EXPORTING = "exporting"
    PRICES = "prices"
    PRIVACY = "privacy"


class HelpWindow(QDialog):
    """A window of its own beside the program's, with a list of topics and the page of one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Help"))
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self.topics = QListWidget()
        self.topics.setAccessibleName(self.tr("Topics"))
        self.topics.setProperty("kind", "topics")
        for topic in Topic:
            item = QListWidgetItem(_title(topic))
            item.setSizeHint(QSize(0, scaled(34)))
            self.topics.addItem(item)
        self.page = _Page()
        self.page.setAccessibleName(self.tr("Help"))
        self.topics.currentRowChanged.connect(lambda row: self._read(list(Topic)[row]))
        whole = split(self.topics, self.page, sizes=(_TOPICS_WIDTH, _WIDTH - _TOPICS_WIDTH), stretched=1)
        self.setLayout(column(whole, gap=0))

    def sizeHint(self) -> QSize:
        return QSize(scaled(_WIDTH), scaled(_HEIGHT))

    def show_topic(self, topic: Topic) -> None:
        """Open the window, or bring it to the front, with this page."""
        self.topics.setCurrentRow(list(Topic).index(topic))
        self._read(topic)
        self.show()
        self.raise_()
        self.activateWindow()

    def _read(self, topic: Topic) -> None:
        self.page.show_page(_text(topic))


class _Page(QTextBrowser):
    """A page of ours. Pictures are those of the program in the colours that it has now."""

    def __init__(self) -> None:
        super().__init__()
        self._text, self._laid_out_for = "", 0
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._lay_out)
        self.setOpenLinks(False)
        self.anchorClicked.connect(_open)
        self.document().setDocumentMargin(LARGE + 8)

    def show_page(self, text: str) -> None:
        """Show a page from its top; `text` is Markdown, with pictures by their names alone."""
        self._text = text
        self._lay_out()
        self.moveCursor(self.textCursor().MoveOperation.Start)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._text and self.width() != self._laid_out_for:
            self._later.start()  # with pictures of another width; not in the middle of laying out

    def _lay_out(self) -> None:
        at, self._laid_out_for = self.verticalScrollBar().value(), self.width()
        self.document().clear()
        self.setMarkdown(self._text)
        self._space_out()
        self.verticalScrollBar().setValue(at)

    def _space_out(self) -> None:
        """Give headings, paragraphs and entries room; Qt sets Markdown without any."""
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        block = self.document().begin()
        while block.isValid():
            form = block.blockFormat()
            is_entry = block.textList() is not None
            form.setTopMargin(0)
            form.setBottomMargin(scaled(_AFTER_ENTRY if is_entry else _AFTER_PARAGRAPH))
            if _PICTURE not in block.text():
                form.setLineHeight(_LINE, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            cursor.setPosition(block.position())
            cursor.setBlockFormat(form)
            block = block.next()
        cursor.endEditBlock()

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return None
        path = QUrl(name).path()
        shade = "dark" if theme.colour("window").lightness() < 128 else "light"
        try:
            image = QImage(str(resource(f"help/pictures/{path}-{shade}.png")))
        except FileNotFoundError:
            return None
        room = max(200, self.width() - 2 * (LARGE + 16) - self.verticalScrollBar().sizeHint().width())
        return image.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation) if image.width() > room else image


def _text(topic: Topic) -> str:
    """The page in the user's language, in English where there is none in that."""
    for language in (language_in_use().code, ENGLISH.code):
        try:
            return in_help(resource(f"help/{language}/{topic}.md").read_text("utf-8"))
        except FileNotFoundError:
            continue
    raise FileNotFoundError(topic)


def _title(topic: Topic) -> str:
    """The first line of a page, without its mark."""
    return _text(topic).partition("\n")[0].lstrip("# ")


def _open(address: QUrl) -> None:
    QDesktopServices.openUrl(address)
