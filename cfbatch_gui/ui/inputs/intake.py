"""Bringing data into a draft: opening, dropping and pasting it, or the example."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QRectF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.input_values import Kind, Role
from cfbatch_gui.core.inputs.recognise.delimited_text import is_clearly_delimited
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.files import write_own_file
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import dialogs, theme
from cfbatch_gui.ui.inputs.draft_files import DraftFiles
from cfbatch_gui.ui.inputs.draft_reading import DraftStates
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.theme import RADIUS_CARD, SMALL, WIDE
from cfbatch_gui.ui.widgets import Button, IconLabel, Label, LinkButton, PrimaryButton, column, row
from cfbatch_gui.ui.widgets.bars import local_files, take_copy

NOTHING_TO_PASTE = "There is no text on the clipboard. Copy cells or lines first."
_SAMPLE = 64 * 1024  # characters
EXAMPLES = {Kind.RANK: "examples/help-centre-ranking.csv", Kind.EMBED: "examples/product-texts.csv"}


class Intake(QWidget):
    """Opens data in the draft that is shown. Never shown itself: the parent of dialogs."""

    def __init__(
        self, program: Program, drafts: DraftStates, files: DraftFiles, notices: Notices, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.hide()
        self._program, self._drafts, self._files, self._notices = program, drafts, files, notices
        self._tasks, self._page = drafts.tasks, parent

    def open_paths(self, paths: Sequence[Path]) -> asyncio.Future[None] | None:
        """What is returned is done when the paths are recognised or cannot be; None when there is nothing to open."""
        if not self._drafts.current or not paths:
            return None
        if len(paths) > 2:
            self._notices.show_notice(
                self.tr("A job takes one file, or two: queries, and contexts for all of them."), "attention"
            )
            return None
        return self._files.open(self._drafts.current, paths[0], paths[1] if len(paths) > 1 else None)

    def take_text(self, text: str) -> None:
        if self._drafts.current:
            self._tasks.start("paste", self._paste(text))

    def paste(self) -> None:
        pasted = clipboard_content()
        if isinstance(pasted, str):
            self.take_text(pasted)
        else:
            self.open_paths(pasted)

    def use_example(self) -> None:
        kind = self._drafts.state(self._drafts.current).kind or Kind.RANK
        self.open_paths([resource(EXAMPLES[kind])])

    def choose_file(self) -> None:
        self._tasks.start("choose", self._choose_file(None))

    def choose_second(self, holds: Role) -> None:
        self._tasks.start("choose", self._choose_file(holds))

    def choose_folder(self) -> None:
        self._tasks.start("choose", self._choose_folder())

    def type_query(self) -> None:
        """Let the user type the one query that all rows are ranked for."""
        self._tasks.start("choose", self._type_query())

    async def _type_query(self) -> None:
        job_id = self._drafts.current
        title, label = self.tr("One query for all rows"), self.tr("The rows are ranked by how well they answer it.")
        typed = await dialogs.ask_text(self._page, title, label, accept=self.tr("Rank by it"))
        if not (typed and typed.strip()) or job_id != self._drafts.current:
            return
        path = self._program.folder(job_id).path / "query.txt"
        await asyncio.to_thread(write_own_file, path, " ".join(typed.split()).encode())
        self._files.open_queries(job_id, path)

    async def _choose_file(self, adds: Role | None) -> None:
        job_id = self._drafts.current
        title = self.tr("Open the file with the contexts") if adds is Role.CONTEXT else self.tr("Open a file")
        if adds is Role.QUERY:
            title = self.tr("Open the file with the queries")
        folder = self._program.remembered_folder(FolderUse.INPUTS)
        path = await dialogs.open_file(self._page, title, filters=dialogs.input_filters(), folder=folder)
        if path is None or job_id != self._drafts.current:
            return
        if adds is Role.CONTEXT:
            self._files.open_second(job_id, path)
        elif adds is Role.QUERY:
            self._files.open_queries(job_id, path)
        else:
            self.open_paths([path])

    async def _choose_folder(self) -> None:
        job_id = self._drafts.current
        title = self.tr("Open a folder of texts, or of a data set")
        path = await dialogs.choose_folder(self._page, title, folder=self._program.remembered_folder(FolderUse.INPUTS))
        if path is not None and job_id == self._drafts.current:
            self.open_paths([path])

    async def _paste(self, text: str) -> None:
        job_id = self._drafts.current
        path = await asyncio.to_thread(save_pasted, text, self._program.folder(job_id).path)
        self._files.open(job_id, path)


class DropTarget(QObject):
    """Lets a page accept dropped files, folders and texts; `show_target` is called as a drag enters and leaves it."""

    def __init__(self, page: QWidget, intake: Intake, show_target: Callable[[bool], None]) -> None:
        super().__init__(page)
        self._intake, self._show_target = intake, show_target
        page.setAcceptDrops(True)
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        match event.type():
            case QEvent.Type.DragEnter if isinstance(event, QDragEnterEvent):
                if local_files(event.mimeData()) or event.mimeData().hasText():
                    take_copy(event)
                    self._show_target(True)
                return True
            case QEvent.Type.DragLeave:
                self._show_target(False)
                return True
            case QEvent.Type.Drop if isinstance(event, QDropEvent):
                self._drop(event)
                return True
            case _:
                return False

    def _drop(self, event: QDropEvent) -> None:
        self._show_target(False)
        take_copy(event)
        if paths := local_files(event.mimeData()):
            self._intake.open_paths(paths)
        else:
            self._intake.take_text(event.mimeData().text())


class DropPlace(QWidget):
    def __init__(self, intake: Intake) -> None:
        super().__init__()
        self._is_target = False
        self._icon = IconLabel("file-up", "quiet", 28)
        self._title = Label("", "strong")
        self._formats = Label(
            self.tr("CSV, Excel and other sheets, plain text, Word, JSON, Parquet, or a folder of texts"),
            "small",
            wrap=True,
        )
        self._formats.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.open_button = PrimaryButton(self.tr("Open…"), "folder-open", intake.choose_file)
        self.paste_button = Button(self.tr("Paste"), "clipboard-paste", intake.paste)
        self.folder_link = LinkButton(self.tr("Open a folder"), on_click=intake.choose_folder)
        self.example_link = LinkButton(self.tr("Use the example"), on_click=intake.use_example)
        head = (row(None, self._icon, None), row(None, self._title, None), self._formats, SMALL)
        buttons = row(None, self.open_button, self.paste_button, None)
        links = row(None, self.folder_link, Label("·", "quiet"), self.example_link, None)
        self.setLayout(column(None, *head, buttons, links, None, margins=(WIDE,) * 4))
        self.setMinimumHeight(236)
        self.show_opening("")

    def show_opening(self, name: str) -> None:
        self._title.setText(
            self.tr("Opening {name}…").format(name=name) if name else self.tr("Drop a file here, or a folder")
        )

    def set_target(self, is_target: bool) -> None:
        if is_target != self._is_target:
            self._is_target = is_target
            self._icon.set_icon("file-up", "accent" if is_target else "quiet")
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        quiet = theme.mixed(theme.colour("quiet"), theme.colour("card"), 0.45)
        pen = QPen(theme.colour("accent"), 1.5) if self._is_target else QPen(quiet, 1)
        back = theme.colour("selection" if self._is_target else "inset")
        pen.setStyle(Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([5, 4])
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        painter.setBrush(back)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)


def save_pasted(text: str, folder: Path) -> Path:
    """Cells are copied with tabs, quoted where needed. Raises InputError for nothing, and DiskFull."""
    clean = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()
    if not clean.strip():
        raise InputError(NOTHING_TO_PASTE)
    path = folder / _name(clean)
    write_own_file(path, clean.encode())
    return path


def _name(text: str) -> str:
    first = next(line for line in text.split("\n") if line.strip())
    if "\t" in first:
        return "pasted.tsv"
    sample = text[:_SAMPLE]
    return "pasted.csv" if is_clearly_delimited(sample, is_whole=len(sample) == len(text)) else "pasted.txt"


def clipboard_content() -> list[Path] | str:
    clipboard = QGuiApplication.clipboard()
    mime: QMimeData | None = clipboard.mimeData()  # None for an empty one on some platforms
    return (local_files(mime) if mime is not None else []) or clipboard.text()
