"""Dialogs that are awaited. None uses exec(): its nested event loop would break the tasks of asyncio."""

import asyncio
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, QStandardPaths, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QLineEdit, QPushButton, QStyle, QWidget
from shiboken6 import isValid

from cfbatch_gui.core.system.file_names import file_name
from cfbatch_gui.core.system.settings import RememberedFolder
from cfbatch_gui.ui.theme import LARGE, MEDIUM, WIDE, scaled
from cfbatch_gui.ui.widgets import Button, DangerButton, Item, Label, PrimaryButton, Roomy, boxed, column, row
from cfbatch_gui.ui.widgets.box_layouts import height_at
from cfbatch_gui.words.languages import said, tr

_QUESTION = 460  # pixels


def input_filters() -> tuple[str, ...]:
    from cfbatch_gui.core.inputs.open_file import PACKED_SUFFIXES
    from cfbatch_gui.core.inputs.readers.formats import suffixes_by_group

    groups = {
        **{said(name): suffixes for name, suffixes in suffixes_by_group().items()},
        tr("Packed files"): PACKED_SUFFIXES,
    }
    patterns = {name: " ".join(f"*{suffix}" for suffix in suffixes) for name, suffixes in groups.items()}
    return (
        tr("All supported files ({patterns})").format(patterns=" ".join(patterns.values())),
        *(f"{name} ({each})" for name, each in patterns.items()),
        tr("All files (*)"),
    )


class Dialog(QDialog):
    """A heading, its content, and one row of buttons: what stands beside, then what closes it, then what accepts.

    One that was opened with `open()` deletes itself when it is closed. `size` is in pixels, for the usual font; where
    it is 0, the content says it. Content that the screen has no room for scrolls, the buttons stay.
    """

    def __init__(self, title: str, parent: QWidget | None = None, size: tuple[int, int] = (0, 0)) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self._size = size
        self.close_button = Button(tr("Close"), on_click=self.reject)

    def lay_out(
        self,
        heading: str,
        *content: Item,
        about: str = "",
        buttons: Sequence[QPushButton] = (),
        beside: Sequence[Item] = (),
    ) -> None:
        """Enter presses the last of `buttons`; without any, the one that closes the dialog."""
        (buttons[-1] if buttons else self.close_button).setDefault(True)
        if buttons:
            self.close_button.setText(tr("Cancel"))
        above = [Label(heading, "part", wrap=True), *([Label(about, "quiet", wrap=True)] if about else [])]
        self._content = boxed(column(*above, *content, gap=MEDIUM, margins=(WIDE, WIDE - 4, WIDE, 0)))
        foot = row(*beside, None, self.close_button, *buttons, margins=(WIDE, MEDIUM, WIDE, LARGE))
        self._foot = boxed(foot)
        self.setLayout(column((Roomy(self._content), 1), self._foot, gap=0))
        if not buttons:
            self.close_button.setFocus()  # a button with the focus is pressed by Enter

    def fit(self) -> None:
        """Become as large as the content wants, never smaller than it was, and stay on the screen."""
        self.resize(self.size().expandedTo(self.sizeHint()))
        lowest = self.screen().availableGeometry().bottom() - self.height() - WIDE
        self.move(self.x(), min(self.y(), max(WIDE, lowest)))

    def sizeHint(self) -> QSize:
        parts = (self._content, self._foot)
        beside_bar = self._content.minimumSizeHint().width() + self.style().pixelMetric(
            QStyle.PixelMetric.PM_ScrollBarExtent
        )
        width = max(scaled(self._size[0]) or max(part.sizeHint().width() for part in parts), beside_bar)
        height = scaled(self._size[1]) or sum(height_at(part, width) for part in parts)
        return QSize(width, height).boundedTo(self.screen().availableSize() - QSize(2 * WIDE, 2 * WIDE))

    def showEvent(self, event: QShowEvent) -> None:
        if not event.spontaneous():
            self.resize(self.sizeHint())  # before it is placed; Qt itself asks too little for texts that are wrapped
        super().showEvent(event)


async def finished(dialog: QDialog) -> int:
    """Open a dialog and wait for its result code; it is deleted afterwards, also when the wait is cancelled."""
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)  # what it holds is read first
    dialog.finished.connect(lambda code: None if answer.done() else answer.set_result(code))
    dialog.open()
    try:
        return await answer
    finally:
        if isValid(dialog):  # not when its parent was destroyed with the window
            dialog.close()
            dialog.deleteLater()


class Question(Dialog):
    """Its code is the number of the button that was pressed, from 1, and 0 for the one that closes it."""

    def __init__(
        self, parent: QWidget, title: str, text: str, *buttons: Button, content: Sequence[Item] = (), close: str = ""
    ) -> None:
        super().__init__(title, parent, (_QUESTION, 0))
        self.text = text
        self.setAccessibleDescription(text)
        for code, button in enumerate(buttons, 1):
            button.clicked.connect(partial(self.done, code))
        self.lay_out(title, *content, about=text, buttons=buttons)
        if close:
            self.close_button.setText(close)
        usual = buttons[-1] if isinstance(buttons[-1], PrimaryButton) else self.close_button
        usual.setDefault(True)
        usual.setFocus()


async def ask(parent: QWidget, title: str, text: str, *, accept: str, danger: bool = False) -> bool:
    """True when `accept` was pressed. With `danger`, Enter presses the other button."""
    button = DangerButton(accept) if danger else PrimaryButton(accept)
    return await finished(Question(parent, title, text, button)) == 1


async def choose(parent: QWidget, title: str, text: str, choices: Sequence[str], *, cancel: str) -> int | None:
    """The index of the chosen button, none of which is preselected; None for `cancel`."""
    code = await finished(Question(parent, title, text, *map(Button, choices), close=cancel))
    return code - 1 if code else None


async def ask_text(
    parent: QWidget, title: str, label: str, *, text: str = "", accept: str = "", note: str = ""
) -> str | None:
    """One line of text; None when the user cancels. `note` stands below the field."""
    field = QLineEdit(text)
    field.setAccessibleName(label)
    field.selectAll()
    content = (Label(label, "quiet", wrap=True), field, *([Label(note, "small", wrap=True)] if note else []))
    question = Question(parent, title, "", PrimaryButton(accept or title), content=content)
    field.setFocus()
    return field.text() if await finished(question) else None


Folder = Path | RememberedFolder | None
"""Where a dialog for files begins: None is the folder for documents. A remembered one is kept when a file is chosen."""


async def open_file(parent: QWidget, title: str, *, filters: tuple[str, ...] = (), folder: Folder) -> Path | None:
    """An existing file; None when the user cancels. `filters` are like "Spreadsheets (*.csv *.xlsx)"."""
    dialog = QFileDialog(parent, title, _begins_in(folder))
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return await _chosen(dialog, filters, folder)


async def open_files(parent: QWidget, title: str, *, filters: tuple[str, ...] = (), folder: Folder) -> list[Path]:
    """Existing files of one folder; none when the user cancels. `filters` as for `open_file`."""
    dialog = QFileDialog(parent, title, _begins_in(folder))
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    return await _all_chosen(dialog, filters, folder)


async def save_file(
    parent: QWidget, title: str, *, name: str, folder: Folder, filters: tuple[str, ...] = (), suffix: str | None = None
) -> Path | None:
    """A path to write to; None when the user cancels. A name without a suffix gets `suffix`, or with None that of the
    proposed name; another of the `filters` replaces it.
    """
    dialog = QFileDialog(parent, title, _begins_in(folder))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(Path(name).suffix.removeprefix(".") if suffix is None else suffix)
    dialog.selectFile(file_name(name))  # a name of a job may have a “/”, or be that of a device
    dialog.filterSelected.connect(lambda chosen: _take_suffix(dialog, chosen))
    return await _chosen(dialog, filters, folder)


async def choose_folder(parent: QWidget, title: str, *, folder: Folder) -> Path | None:
    dialog = QFileDialog(parent, title, _begins_in(folder))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return await _chosen(dialog, (), folder)


def _begins_in(folder: Folder) -> str:
    found = folder.path if isinstance(folder, RememberedFolder) else folder
    return str(found) if found is not None else documents()


def documents() -> str:
    standard = QStandardPaths.StandardLocation
    found = (QStandardPaths.writableLocation(each) for each in (standard.DocumentsLocation, standard.HomeLocation))
    return next((folder for folder in found if Path(folder).is_dir()), "")


async def _chosen(dialog: QFileDialog, filters: tuple[str, ...], folder: Folder) -> Path | None:
    return next(iter(await _all_chosen(dialog, filters, folder)), None)


async def _all_chosen(dialog: QFileDialog, filters: tuple[str, ...], folder: Folder) -> list[Path]:
    if filters:
        dialog.setNameFilters(list(filters))
    code = await finished(dialog)
    files = [Path(each) for each in dialog.selectedFiles()]
    if code != QDialog.DialogCode.Accepted or not files:
        return []
    if isinstance(folder, RememberedFolder):
        folder.keep(files[0] if dialog.fileMode() is QFileDialog.FileMode.Directory else files[0].parent)
    return files


def _take_suffix(dialog: QFileDialog, chosen: str) -> None:
    """Give the name the first suffix of a filter like "Spreadsheets (*.csv *.xlsx)"."""
    found = re.search(r"\(\*(\.\w+)", chosen)
    files = dialog.selectedFiles()
    if found is None or not files or Path(files[0]).is_dir():
        return
    dialog.setDefaultSuffix(found[1].removeprefix("."))
    path = Path(files[0])
    offered = re.findall(r"\*(\.\w+)", " ".join(dialog.nameFilters()))
    stem = path.stem if path.suffix.lower() in offered else path.name  # the suffix of "model v1.2" is part of the name
    dialog.selectFile(stem + found[1])
