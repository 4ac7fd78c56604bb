"""Questions, awaited. Never exec(): inside a task it kills the other tasks."""

import asyncio
import re
from pathlib import Path

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtWidgets import QDialog, QFileDialog, QInputDialog, QLineEdit, QMessageBox, QPushButton, QWidget
from shiboken6 import isValid

from cfbatch_gui.core.inputs.files.open_file import PACKED_SUFFIXES
from cfbatch_gui.core.inputs.readers.formats import suffixes_by_group

_ROOM_FOR_A_LINE = 340  # pixels
_PATTERNS = {
    name: " ".join(f"*{suffix}" for suffix in suffixes)
    for name, suffixes in {**suffixes_by_group(), "Packed files": PACKED_SUFFIXES}.items()
}
INPUT_FILTERS = (
    f"All supported files ({' '.join(_PATTERNS.values())})",
    *(f"{name} ({patterns})" for name, patterns in _PATTERNS.items()),
    "All files (*)",
)
"""Filters of `open_file` for all that the core reads, the first one preselected."""


async def finished(dialog: QDialog) -> int:
    """Open any dialog of ours and wait for its code; afterwards, and when the wait is cancelled, it is deleted."""
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    dialog.finished.connect(lambda code: None if answer.done() else answer.set_result(code))
    dialog.open()
    try:
        return await answer
    finally:
        if isValid(dialog):  # it goes with its parent, when the window is closed over it
            dialog.close()
            dialog.deleteLater()


async def ask(parent: QWidget, title: str, text: str, *, accept: str, danger: bool = False, cancel: str = "") -> bool:
    """A question whose buttons say what they do. With `danger` the safe answer is the one that Enter gives."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle(title)
    box.setText(title)
    box.setInformativeText(text)
    yes = box.addButton(accept, QMessageBox.ButtonRole.AcceptRole)
    no = box.addButton(cancel or box.tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    if isinstance(yes, QPushButton):
        yes.setProperty("kind", "danger" if danger else "primary")
        yes.style().unpolish(yes)
        yes.style().polish(yes)
    box.setDefaultButton(no if danger else yes)
    box.setEscapeButton(no)
    pressed: list[bool] = []
    box.buttonClicked.connect(lambda button: pressed.append(button is yes))
    await finished(box)
    return bool(pressed and pressed[0])


async def ask_text(parent: QWidget, title: str, label: str, *, text: str = "", accept: str = "") -> str | None:
    """One line of text, or None when the user thinks better of it. `accept` is what the button says, "OK" without."""
    dialog = QInputDialog(parent)
    if accept:
        dialog.setOkButtonText(accept)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setTextValue(text)
    dialog.setTextEchoMode(QLineEdit.EchoMode.Normal)
    for field in dialog.findChildren(QLineEdit):
        field.setMinimumWidth(_ROOM_FOR_A_LINE)
    code = await finished(dialog)
    return dialog.textValue() if code == QDialog.DialogCode.Accepted else None


async def open_file(
    parent: QWidget, title: str, *, filters: tuple[str, ...] = (), folder: Path | None = None
) -> Path | None:
    """A file that exists, or None. `filters` are like "Spreadsheets (*.csv *.xlsx)"."""
    dialog = QFileDialog(parent, title, str(folder or _documents()))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptOpen)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return await _chosen(dialog, filters)


async def save_file(
    parent: QWidget,
    title: str,
    *,
    name: str,
    filters: tuple[str, ...] = (),
    folder: Path | None = None,
    suffix: str = "",
) -> Path | None:
    """Where to write, or None. The dialog asks before a file is replaced; `suffix` is added if none is typed.

    When another of the `filters` is chosen, the name takes its suffix.
    """
    dialog = QFileDialog(parent, title, str(folder or _documents()))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setDefaultSuffix(suffix)
    dialog.selectFile(name)
    dialog.filterSelected.connect(lambda chosen: _take_suffix(dialog, chosen))
    return await _chosen(dialog, filters)


async def choose_folder(parent: QWidget, title: str, *, folder: Path | None = None) -> Path | None:
    """A folder, or None."""
    dialog = QFileDialog(parent, title, str(folder or _documents()))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return await _chosen(dialog, ())


def _documents() -> str:
    """Where people keep their files: a program is rarely started there."""
    places = QStandardPaths.StandardLocation
    found = (QStandardPaths.writableLocation(each) for each in (places.DocumentsLocation, places.HomeLocation))
    return next((folder for folder in found if Path(folder).is_dir()), "")


async def _chosen(dialog: QFileDialog, filters: tuple[str, ...]) -> Path | None:
    if filters:
        dialog.setNameFilters(list(filters))
    code = await finished(dialog)
    files = dialog.selectedFiles()
    return Path(files[0]) if code == QDialog.DialogCode.Accepted and files else None


def _take_suffix(dialog: QFileDialog, chosen: str) -> None:
    """Give the name in the dialog the first suffix of a filter like "Spreadsheets (*.csv *.xlsx)"."""
    found = re.search(r"\(\*(\.\w+)", chosen)
    files = dialog.selectedFiles()
    if found is None or not files or Path(files[0]).is_dir():
        return
    dialog.setDefaultSuffix(found[1].removeprefix("."))
    path = Path(files[0])
    offered = re.findall(r"\*(\.\w+)", " ".join(dialog.nameFilters()))
    stem = path.stem if path.suffix.lower() in offered else path.name  # "model v1.2" has no suffix of ours
    dialog.selectFile(stem + found[1])
