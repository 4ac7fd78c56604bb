"""The two buttons of a plot: copy it, and save it as PNG, as SVG or as the data behind it."""

import asyncio
from pathlib import Path

from PySide6.QtCore import QLocale, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots.plot import Plot, encoded
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import TINY
from cfbatch_gui.ui.widgets import IconButton, QuietButton, row


class PictureButtons(QWidget):
    """`name` is what the file is called at first, without suffix; `folder` where the dialog begins."""

    def __init__(
        self,
        plot: Plot,
        notices: Notices,
        tasks: Tasks,
        *,
        name: str,
        folder: Path | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._plot, self._notices, self._tasks = plot, notices, tasks
        self._name, self._folder = name, folder
        self.copy_button = IconButton("copy", self.tr("Copy the picture"))
        self.copy_button.clicked.connect(self._copy)
        self.save_button = QuietButton(
            self.tr("Save picture…"), "image", tip=self.tr("As PNG or SVG, or the data behind it as CSV")
        )
        self.save_button.clicked.connect(lambda: tasks.start("save picture", self._save()))
        self.setLayout(row(self.copy_button, self.save_button, gap=TINY))

    def set_name(self, name: str) -> None:
        """What the file is called at first."""
        self._name = name

    async def write(self, path: Path) -> None:
        """Write what the suffix says, PNG when it says nothing. Raises DiskFull, ExportError."""
        match path.suffix.lower():
            case ".csv":
                separator = ";" if QLocale().decimalPoint() == "," else ","
                content = await asyncio.to_thread(self._plot.data().csv, separator)
            case ".svg":
                content = self._plot.svg()
            case _:
                content = await asyncio.to_thread(encoded, self._plot.picture())
        await asyncio.to_thread(write_atomically, path, content)
        self._notices.show_notice(
            self.tr("Wrote “{name}”.").format(name=path.name),
            "done",
            button=self.tr("Show file"),
            on_button=lambda: _show_folder(path.parent),
        )

    async def _save(self) -> None:
        path = await dialogs.save_file(
            self,
            self.tr("Save picture"),
            name=f"{self._name}.png",
            filters=(
                self.tr("PNG picture (*.png)"),
                self.tr("SVG drawing (*.svg)"),
                self.tr("The data behind it, as CSV (*.csv)"),
            ),
            folder=self._folder,
            suffix="png",
        )
        if path is not None:
            self._folder = path.parent
            await self.write(path)

    def _copy(self) -> None:
        self._plot.copy()
        self._notices.show_notice(self.tr("The picture is on the clipboard."), "done")


def _show_folder(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
