"""Dialogs that are awaited. None uses exec(): its nested event loop would break the tasks of asyncio."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, QStandardPaths, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QFileDialog,
    QInputDialog,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from cfbatch_gui.core.system.file_names import file_name
from cfbatch_gui.core.system.settings import RememberedFolder
from cfbatch_gui.ui.theme import LARGE, MEDIUM, WIDE, scaled
from cfbatch_gui.ui.widgets import Button, Item, Label, column, row
from cfbatch_gui.words.languages import said, tr

_ROOM_FOR_A_LINE = 340  # pixels


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


class SizedDialog(QDialog):
    """`size` is in pixels, for the usual font; where it is 0, its content says it."""

    def __init__(self, title: str, parent: QWidget | None = None, size: tuple[int, int] = (0, 0)) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._size = size

    def sizeHint(self) -> QSize:
        hint, (width, height), layout = super().sizeHint(), map(scaled, self._size), self.layout()
        if width and not height and layout is not None:
            height = layout.totalHeightForWidth(width)  # of texts that are wrapped at this width
        return QSize(width or hint.width(), height or hint.height())


class FormDialog(SizedDialog):
    """A dialog with a heading above its content and its buttons in a row below, the one that accepts at the end."""

    def __init__(self, title: str, parent: QWidget | None = None, size: tuple[int, int] = (0, 0)) -> None:
        super().__init__(title, parent, size)
        self.cancel_button = Button(tr("Cancel"), on_click=self.reject)

    def lay_out(
        self, heading: str, about: str, *content: Item, accept: Button, beside: QWidget | None = None
    ) -> QVBoxLayout:
        """`beside` stands at the other end of the row of buttons."""
        accept.setDefault(True)
        buttons = row(*filter(None, [beside]), None, self.cancel_button, accept)
        above = [Label(heading, "part", wrap=True), *([Label(about, "quiet", wrap=True)] if about else [])]
        whole = column(*above, *content, buttons, gap=MEDIUM, margins=(WIDE, WIDE - 4, WIDE, LARGE))
        self.setLayout(whole)
        return whole


class ShownDialog(SizedDialog):
    """A dialog that only shows something: opened with `open()`, it deletes itself when it is closed."""

    def __init__(self, title: str, parent: QWidget | None, size: tuple[int, int] = (0, 0)) -> None:
        super().__init__(title, parent, size)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.close_button = Button(tr("Close"), on_click=self.accept)
        self.close_button.setDefault(True)

    def lay_out(self, heading: str, *content: Item, foot: Sequence[Item] = (None,)) -> None:
        """`foot` stands in the row of the button."""
        buttons = row(*foot, self.close_button)
        margins = (WIDE, WIDE - 4, WIDE, LARGE)
        self.setLayout(column(Label(heading, "part"), *content, buttons, gap=MEDIUM, margins=margins))


async def finished(dialog: QDialog) -> int:
    """Open a dialog and wait for its result code; it is deleted afterwards, also when the wait is cancelled."""
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    dialog.finished.connect(lambda code: None if answer.done() else answer.set_result(code))
    dialog.open()
    try:
        return await answer
    finally:
        if isValid(dialog):  # not when its parent was destroyed with the window
            dialog.close()
            dialog.deleteLater()


async def ask(parent: QWidget, title: str, text: str, *, accept: str, danger: bool = False) -> bool:
    """True when `accept` was pressed. With `danger`, Enter presses the other button."""
    kind = "danger" if danger else "primary"
    return await _pressed(parent, title, text, (accept,), cancel=tr("Cancel"), kind=kind) == 0


async def choose(parent: QWidget, title: str, text: str, choices: Sequence[str], *, cancel: str) -> int | None:
    """The index of the chosen button, none of which is preselected; None for `cancel`."""
    return await _pressed(parent, title, text, choices, cancel=cancel)


async def _pressed(
    parent: QWidget, title: str, text: str, choices: Sequence[str], *, cancel: str, kind: str = ""
) -> int | None:
    """The index of the button that was pressed, None for `cancel`. One of the kind "primary" is pressed by Enter."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle(title)
    box.setText(title)
    box.setInformativeText(text)
    buttons = [QPushButton(each) for each in choices]
    for button in buttons:
        button.setProperty("kind", kind)
        box.addButton(button, QMessageBox.ButtonRole.AcceptRole)
    no = box.addButton(cancel, QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(buttons[0] if kind == "primary" else no)
    box.setEscapeButton(no)
    pressed: list[QAbstractButton] = []
    box.buttonClicked.connect(pressed.append)
    await finished(box)
    return next((buttons.index(button) for button in pressed if button in buttons), None)


async def ask_text(parent: QWidget, title: str, label: str, *, text: str = "", accept: str = "") -> str | None:
    """One line of text; None when the user cancels."""
    dialog = QInputDialog(parent)
    if accept:
        dialog.setOkButtonText(accept)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setTextValue(text)
    dialog.setTextEchoMode(QLineEdit.EchoMode.Normal)
    for field in dialog.findChildren(QLineEdit):
        field.setAccessibleName(label.partition("\n")[0])
        field.setMinimumWidth(scaled(_ROOM_FOR_A_LINE))
    code = await finished(dialog)
    return dialog.textValue() if code == QDialog.DialogCode.Accepted else None


Folder = Path | RememberedFolder | None
"""Where a dialog for files begins: None is the folder for documents. A remembered one is kept when a file is chosen."""


async def open_file(parent: QWidget, title: str, *, filters: tuple[str, ...] = (), folder: Folder) -> Path | None:
    """An existing file; None when the user cancels. `filters` are like "Spreadsheets (*.csv *.xlsx)"."""
    dialog = QFileDialog(parent, title, _begins_in(folder))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptOpen)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return await _chosen(dialog, filters, folder)


async def save_file(
    parent: QWidget,
    title: str,
    *,
    name: str,
    folder: Folder,
    filters: tuple[str, ...] = (),
    suffix: str | None = None,
) -> Path | None:
    """A path to write to; None when the user cancels. A name without a suffix gets `suffix`, or with None that of the
    proposed name; another of the `filters` replaces it.
    """
    dialog = QFileDialog(parent, title, _begins_in(folder))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
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
    if filters:
        dialog.setNameFilters(list(filters))
    code = await finished(dialog)
    files = dialog.selectedFiles()
    if code != QDialog.DialogCode.Accepted or not files:
        return None
    if isinstance(folder, RememberedFolder):
        folder.keep(Path(files[0]) if dialog.fileMode() is QFileDialog.FileMode.Directory else Path(files[0]).parent)
    return Path(files[0])


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
