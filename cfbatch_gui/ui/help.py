"""The help: pages in Markdown that ship with the program. Nothing is loaded from elsewhere."""

import platform
import re
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from importlib import metadata
from pathlib import Path

import PySide6
from PySide6 import QtGui
from PySide6.QtCore import QLocale, QSize, QSysInfo, Qt, QTimer, QUrl, qVersion
from PySide6.QtGui import QDesktopServices, QGuiApplication, QImage, QTextCursor
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QPlainTextEdit, QTextBrowser, QWidget

from cfbatch_gui import __version__
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.system.logs import last_lines, redacted
from cfbatch_gui.ui import theme
from cfbatch_gui.ui.dialogs import Dialog
from cfbatch_gui.ui.display import in_help, key_name
from cfbatch_gui.ui.theme import LARGE, WIDE, scaled
from cfbatch_gui.ui.widgets import Button, Label, LinkButton, column, form, row, split
from cfbatch_gui.words.languages import ENGLISH, language_in_use, tr

_WIDTH, _HEIGHT = 900, 620  # pixels
_TOPICS_WIDTH = 220
_AFTER_ENTRY, _AFTER_PARAGRAPH = 6, 12  # pixels
_PICTURE = "\ufffc"  # stands for one in the text of a block
_LINE = 120.0  # percent of the usual height of a line


class Topic(StrEnum):
    FIRST_JOB = "first-job"
    FILES = "files"
    SENDING = "sending"
    SCORES = "scores"
    QUALITY = "quality"
    MATCHING = "matching"
    CATEGORIES = "categories"
    GROUPS = "groups"
    SEARCHING = "searching"
    VECTORS = "vectors"
    EXPORTING = "exporting"
    PRICES = "prices"
    PRIVACY = "privacy"


class HelpWindow(QDialog):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Help"))
        self.resize(scaled(_WIDTH), scaled(_HEIGHT))
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
        whole = split(self.topics, self.page, name="help", sizes=(_TOPICS_WIDTH, _WIDTH - _TOPICS_WIDTH), stretched=1)
        self.setLayout(column(whole, gap=0))

    def show_topic(self, topic: Topic) -> None:
        self.show()  # first: pictures have the width of the page
        self.topics.setCurrentRow(list(Topic).index(topic))
        self._read(topic)
        self.raise_()
        self.activateWindow()

    def _read(self, topic: Topic) -> None:
        self.page.show_page(_text(topic))


class _Page(QTextBrowser):
    def __init__(self) -> None:
        super().__init__()
        self.setOpenLinks(False)
        self.anchorClicked.connect(QDesktopServices.openUrl)
        self.document().setDocumentMargin(LARGE + 8)
        # One that comes and goes would change the width of the pictures, and so come and go.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self._text = ""
        self._resized = QTimer(self, singleShot=True, interval=0)  # not while Qt lays the page out
        self._resized.timeout.connect(self._show_again)

    def show_page(self, text: str) -> None:
        """`text` is Markdown, with pictures by their names alone."""
        self._text = text
        self.document().clear()
        self.setMarkdown(text)
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        block = self.document().begin()
        while block.isValid():
            form = block.blockFormat()
            is_entry = block.textList() is not None
            form.setTopMargin(0)
            form.setBottomMargin(scaled(_AFTER_ENTRY if is_entry else _AFTER_PARAGRAPH))
            if _PICTURE not in block.text():
                form.setLineHeight(_LINE, QtGui.QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            cursor.setPosition(block.position())
            cursor.setBlockFormat(form)
            block = block.next()
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width() and self._text:  # pictures have the width of the page
            self._resized.start()

    def _show_again(self) -> None:
        place = self.verticalScrollBar().value()
        self.show_page(self._text)
        self.verticalScrollBar().setValue(place)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        if kind != QtGui.QTextDocument.ResourceType.ImageResource.value:
            return None
        shade = "dark" if theme.colour("window").lightness() < 128 else "light"
        file = f"{QUrl(name).path()}-{shade}.png"
        image = QImage(str(resource("help/pictures") / language_in_use().code / file))
        if image.isNull():
            image = QImage(str(resource("help/pictures") / file))
        if image.isNull():
            return None
        room = max(200, self.width() - 2 * (LARGE + 16) - self.verticalScrollBar().sizeHint().width())
        return image.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation) if image.width() > room else image


def _text(topic: Topic) -> str:
    for language in (language_in_use().code, ENGLISH.code):
        try:
            return in_help(resource(f"help/{language}/{topic}.md").read_text("utf-8"))
        except FileNotFoundError:
            continue
    raise FileNotFoundError(topic)


def _title(topic: Topic) -> str:
    return _text(topic).partition("\n")[0].lstrip("# ")


RELEASES = "https://github.com/cfbatch/CFBatch/releases"  # read by the user's browser alone
_LOG_LINES = 60
_ID = re.compile(r"\b[0-9a-f]{32}\b")  # of an account
PACKAGES = (
    *("PySide6-Essentials", "shiboken6", "qasync", "httpx", "httpcore", "h11", "anyio", "keyring", "jeepney"),
    *("SecretStorage", "cryptography", "msgspec", "numpy", "truststore", "python-calamine", "xlsxwriter", "uvicorn"),
    *("chardet", "wcwidth", "wordllama", "arro3-core", "arro3-io"),
)


class AboutDialog(Dialog):
    def __init__(self, program: Program, parent: QWidget) -> None:
        super().__init__(tr("About CF Batch"), parent, (560, 460))
        self._program = program
        self.licences = QPlainTextEdit(licence_text(), readOnly=True, tabChangesFocus=True)
        self.licences.setAccessibleName(self.tr("Licences"))
        tip = self.tr("Versions, numbers of jobs and the end of the log, without texts or tokens")
        self.copy_button = Button(self.tr("Copy diagnostics"), "copy", self._copy, tip=tip)
        self._copied = Label("", "small")
        tip = self.tr("Opens the list of versions in your browser. The program itself never looks for a new one.")
        self.news_button = LinkButton(
            self.tr("What is new"), "external-link", lambda: QDesktopServices.openUrl(QUrl(RELEASES)), tip=tip
        )
        about = self.tr(
            "Ranks texts by meaning and turns them into vectors, with Cloudflare’s Workers AI Batch API."
            " It is not made by Cloudflare. It is free software under the MIT licence."
        )
        version = Label(self.tr("Version {version}").format(version=__version__), "quiet")
        self.lay_out(
            self.tr("CF Batch"),
            row(version, self.news_button, None),
            Label(about, wrap=True),
            Label(self.tr("Made with"), "strong"),
            self.licences,
            beside=(self.copy_button, self._copied, None),
        )

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(diagnostics(self._program))
        self._copied.setText(self.tr("Copied."))


def licence_text() -> str:
    """One line for each installed package with its version and licence; then the licence of the icons."""
    lines = []
    for name in PACKAGES:
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue
        fields = about.json
        licence = str(fields.get("license_expression") or fields.get("license") or _classified(about))
        lines.append(f"{about['Name']} {about['Version']} · {licence.splitlines()[0] if licence else '–'}")
    icons = resource("icons/LICENSE").read_text("utf-8").strip()
    return "\n".join(lines) + f"\n\nLucide icons\n{icons}\n"


def _classified(about: "metadata.PackageMetadata") -> str:
    found = [each for each in about.get_all("Classifier") or () if each.startswith("License ::")]
    return found[0].rpartition(" :: ")[2] if found else ""


def about_versions() -> str:
    """The program and what it stands on."""
    parts = (f"CF Batch {__version__}", f"Python {platform.python_version()}", f"Qt {qVersion()}")
    return " · ".join((*parts, f"PySide {PySide6.__version__}", platform.platform()))


def diagnostics(program: Program) -> str:
    """What somebody who is to find a fault asks for first; no texts, names of jobs, account IDs or tokens."""
    screen = QGuiApplication.primaryScreen()
    size = screen.size()
    states = Counter(str(job.state) for job in program.ledger.jobs())
    kinds = Counter(each.kind for each in program.settings.connections)
    lines = [
        about_versions(),
        f"{QSysInfo.prettyProductName()} · {QGuiApplication.platformName()}",
        f"Screen {size.width()}×{size.height()} at {screen.devicePixelRatio():g} · language {QLocale().name()}",
        "Jobs: " + (", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"),
        "Connections: " + (", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"),
        "",
        *last_lines(program.paths, _LOG_LINES),
    ]
    text = _ID.sub("[id]", redacted("\n".join(lines)))
    return text.replace(str(Path.home()), "~")


class ShortcutsDialog(Dialog):
    def __init__(self, actions: Iterable[QtGui.QAction], parent: QWidget) -> None:
        super().__init__(tr("Shortcuts"), parent)
        own = [(action.shortcut().toString(), action.text()) for action in actions if action.isVisible()]
        elsewhere = (
            ("Ctrl+Return", self.tr("Send the draft")),
            ("Ctrl+C", self.tr("Copy the selected rows, as a spreadsheet takes them")),
            ("Del", self.tr("Delete the selected jobs, in the list of jobs")),
        )
        lines = form(gap=WIDE)
        for keys, text in (*own, *elsewhere):
            if keys:
                lines.addRow(Label(key_name(keys), "quiet"), Label(text, wrap=True))
        self.lay_out(self.windowTitle(), lines)
