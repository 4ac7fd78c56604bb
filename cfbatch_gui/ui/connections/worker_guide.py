"""The guide to a Worker of the user's own: save its files, deploy them, set its secret, connect."""

import asyncio
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QFontDatabase, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QVBoxLayout, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.remembered_folders import RememberedFolder
from cfbatch_gui.core.workers_ai.api_tokens import check_secret
from cfbatch_gui.core.workers_ai.own_worker import GUIDE, NEEDS, Step, in_the_way, new_secret, save_worker
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE
from cfbatch_gui.ui.widgets import Button, Card, IconLine, Label, PrimaryButton, column, row

_WIDTH = 620  # pixels
_SECRET_STEP = 1  # index in GUIDE


class WorkerGuide(QDialog):
    """A dialog that is opened with `open()` and deletes itself when it is closed.

    `secret_chosen` carries the offered secret, a Token, when the user copies it.
    """

    secret_chosen = Signal(object)

    def __init__(self, tasks: Tasks, folder: RememberedFolder, parent: QWidget) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("A Worker of your own"))
        self.setMinimumWidth(_WIDTH)
        self._secret = new_secret()
        self._remembered = folder
        self._folder: Path | None = None
        self.save_button = PrimaryButton(self.tr("Save the Worker…"), "save")
        self.save_button.clicked.connect(lambda: self._tasks.start("worker", self._save()))
        self.folder_button = Button(self.tr("Show folder"), "folder-open")
        self.folder_button.clicked.connect(self._show_folder)
        self.folder_button.hide()
        self.saved = IconLine("", "circle-check")
        self.saved.hide()
        self.secret = QLineEdit(self._secret)
        self.secret.setReadOnly(True)
        self.secret.setEchoMode(QLineEdit.EchoMode.Password)
        self.secret.setAccessibleName(self.tr("New secret"))
        self.copy_secret = Button(self.tr("Copy"), "copy")
        self.copy_secret.setAccessibleName(self.tr("Copy the secret"))
        self.copy_secret.clicked.connect(self._copy_secret)
        self.commands: list[Button] = []
        close = Button(self.tr("Done"))
        close.setDefault(True)
        close.clicked.connect(self.accept)
        steps = column(gap=MEDIUM)
        for index, step in enumerate(GUIDE):
            steps.addWidget(self._step(index, step))
        self.setLayout(
            column(
                Label(self.tr("A Worker of your own"), "part"),
                Label(said(NEEDS), "quiet", wrap=True),
                row(self.save_button, self.folder_button, self.saved, None, gap=MEDIUM),
                steps,
                None,
                row(None, close),
                gap=LARGE,
                margins=(WIDE, WIDE - 4, WIDE, WIDE - 4),
            )
        )

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        layout = self.layout()
        if layout is not None:  # the height of wrapped texts is known only once the width is
            self.resize(self.width(), max(self.height(), layout.totalHeightForWidth(self.width())))

    def _step(self, index: int, step: Step) -> Card:
        card = Card(inset=True)
        card.body.setSpacing(SMALL)
        title = self.tr("{n}. {title}").format(n=index + 1, title=said(step.title))
        card.body.addWidget(Label(title, "strong"))
        card.body.addWidget(Label(said(step.text), "quiet", wrap=True))
        if step.command:
            card.body.addLayout(self._command_line(step.command))
        if index == _SECRET_STEP:
            self._add_secret(card.body)
        return card

    def _command_line(self, command: str) -> QVBoxLayout:
        field = QLineEdit(command)
        field.setReadOnly(True)
        field.setAccessibleName(self.tr("Command"))
        field.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        copy = Button(self.tr("Copy"), "copy")
        copy.setAccessibleName(self.tr("Copy {command}").format(command=command))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(command))
        self.commands.append(copy)
        return column(row(field, copy))

    def _add_secret(self, body: QVBoxLayout) -> None:
        body.addWidget(Label(self.tr("A new secret that nobody can guess. Copied, it is entered here, too."), "small"))
        body.addLayout(row(self.secret, self.copy_secret))

    def _copy_secret(self) -> None:
        QGuiApplication.clipboard().setText(self._secret)
        self.copy_secret.setText(self.tr("Copied"))
        self.secret_chosen.emit(check_secret(self._secret))

    def _show_folder(self) -> None:
        if self._folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder)))

    async def _save(self) -> None:
        folder = await dialogs.choose_folder(self, self.tr("Save the Worker in a folder"), folder=self._remembered)
        if folder is None:
            return
        try:
            others = await asyncio.to_thread(in_the_way, folder)
            if others and not await self._may_replace(others):
                return
            paths = await asyncio.to_thread(partial(save_worker, folder, replace=bool(others)))
        except UserError as error:
            self._say(said(error.message), "triangle-alert", "attention")
            return
        self._folder = folder
        files = display.plural(len(paths), "{n} file", "{n} files")
        self._say(self.tr("{files} saved in “{name}”.").format(files=files, name=folder.name), "circle-check", "done")
        self.folder_button.show()

    async def _may_replace(self, others: tuple[Path, ...]) -> bool:
        names = display.listed([f"“{path.name}”" for path in others])
        return await dialogs.ask(
            self,
            self.tr("Replace files?"),
            self.tr("{names} in this folder would be lost.").format(names=names),
            accept=self.tr("Replace"),
            danger=True,
        )

    def _say(self, sentence: str, icon: str, role: str) -> None:
        self.saved.set_line(sentence, icon, role)
        self.saved.show()
