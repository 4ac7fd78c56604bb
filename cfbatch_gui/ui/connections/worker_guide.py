"""The guide to a Worker of the user's own: its files are saved, deployed and connected, or the program does it all."""

import asyncio
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QFontDatabase, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLayout, QLineEdit, QVBoxLayout, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import RememberedFolder
from cfbatch_gui.core.worker_setup.worker_setup import (
    COSTS,
    GUIDE,
    NEEDS,
    REMOVAL,
    GuideStep,
    in_the_way,
    new_secret,
    save_worker,
)
from cfbatch_gui.core.workers_ai.api_tokens import check_secret
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, WIDE, scaled
from cfbatch_gui.ui.widgets import Button, Card, Label, PrimaryButton, Saying, boxed, column, line, row, scrolled

_LEAST = 480  # pixels that it may have above a window that is lower


class TallDialog(QDialog):
    """Opened with `open()`; deletes itself when it is closed. What does not fit above the window behind it scrolls."""

    def __init__(self, title: str, parent: QWidget, *, width: int) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self._window, self._width = parent.window(), scaled(width)

    def lay_out(self, content: QLayout, foot: QLayout) -> None:
        content.setContentsMargins(WIDE, WIDE - 4, WIDE, LARGE)
        foot.setContentsMargins(WIDE, MEDIUM, WIDE, LARGE)
        self._content, self._foot = boxed(content), boxed(foot)
        self._area = scrolled(self._content)
        whole = column(self._area, line(), self._foot, gap=0)
        whole.setStretch(0, 1)
        self.setLayout(whole)

    def fit(self) -> None:
        """Take the height of the content, as far as the window behind has it; never less than while it was shown."""
        width = max(self.minimumSizeHint().width(), min(self._width, self._window.width() - 2 * WIDE))
        screen, middle = self.screen().availableGeometry(), self._window.frameGeometry().center()
        room = min(max(self._window.height(), _LEAST), screen.height()) - 2 * WIDE
        needed = sum(_height(each, width) for each in (self._content, self._foot))
        height = max(self.height() if self.isVisible() else 0, min(needed + 2, room))
        self.resize(width, height)
        self.move(middle.x() - width // 2, max(screen.top(), middle.y() - height // 2))

    def scroll_to(self, part: QWidget) -> None:
        self._area.ensureWidgetVisible(part, 0, LARGE)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.fit()  # the height of wrapped texts is known only once the width is


def _height(part: QWidget, width: int) -> int:
    return part.heightForWidth(width) if part.hasHeightForWidth() else part.sizeHint().height()


_WIDTH = 620  # pixels
_SECRET_STEP = 1  # index in GUIDE


class WorkerGuide(TallDialog):
    """`secret_chosen` carries the offered secret, a Token, when the user copies it.

    `set_up_wanted`: the user lets the program do it, in a dialog of its own; this one closes.
    """

    secret_chosen = Signal(object)
    set_up_wanted = Signal()

    def __init__(self, tasks: Tasks, folder: RememberedFolder, parent: QWidget) -> None:
        super().__init__(tr("A Worker of your own"), parent, width=_WIDTH)
        self._secret, self._remembered, self._folder = new_secret(), folder, Path()
        words = self.tr("Save the Worker…")
        self.save_button = PrimaryButton(words, "save", lambda: tasks.start("worker", self._save()))
        self.folder_button = Button(
            self.tr("Show folder"),
            "folder-open",
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder))),
        )
        self.folder_button.hide()
        self.saved = Saying("circle-check")
        self.secret = QLineEdit(self._secret)
        self.secret.setReadOnly(True)
        self.secret.setEchoMode(QLineEdit.EchoMode.Password)
        self.secret.setAccessibleName(self.tr("New secret"))
        self.copy_secret = Button(self.tr("Copy"), "copy", self._copy_secret)
        self.copy_secret.setAccessibleName(self.tr("Copy the secret"))
        self.commands: list[Button] = []
        close = Button(self.tr("Done"), on_click=self.accept)
        close.setDefault(True)
        steps = column(*(self._step(index, step) for index, step in enumerate(GUIDE)), gap=MEDIUM)
        self.set_up_button = Button(self.tr("Set up in my account…"), "cloud", self._hand_over)
        self.lay_out(
            column(
                Label(self.tr("A Worker of your own"), "part"),
                Label(said(NEEDS), "quiet", wrap=True),
                row(self.save_button, self.folder_button, self.saved, None, gap=MEDIUM),
                steps,
                self._second_way(),
                self._explained(self.tr("What collecting costs"), said(COSTS)),
                self._explained(self.tr("To remove it again"), said(REMOVAL)),
                None,
                gap=LARGE,
            ),
            row(self.set_up_button, None, close),
        )

    def _second_way(self) -> Card:
        sentence = self.tr(
            "It puts the Worker into your account, with a bucket and a Workflow that collect answers while this"
            " computer is off, and adds the connection. It needs no Node.js, but a token of your account that is used"
            " once and stored nowhere; every call is listed before anything is sent."
        )
        title = Label(self.tr("Or let this program do it"), "strong")
        return Card(title, Label(sentence, "quiet", wrap=True), inset=True)

    def _explained(self, title: str, text: str) -> QVBoxLayout:
        return column(Label(title, "strong"), Label(text, "small", wrap=True), gap=2)

    def _hand_over(self) -> None:
        self.set_up_wanted.emit()
        self.accept()

    def _step(self, index: int, step: GuideStep) -> Card:
        title = self.tr("{n}. {title}").format(n=index + 1, title=said(step.title))
        card = Card(Label(title, "strong"), Label(said(step.text), "quiet", wrap=True), inset=True)
        if step.command:
            card.body.addLayout(self._command_line(step.command))
        if index == _SECRET_STEP:
            about = self.tr("A new secret that nobody can guess. Copied, it is entered here, too.")
            card.body.addWidget(Label(about, "small"))
            card.body.addLayout(row(self.secret, self.copy_secret))
        return card

    def _command_line(self, command: str) -> QHBoxLayout:
        field = QLineEdit(command)
        field.setReadOnly(True)
        field.setAccessibleName(self.tr("Command"))
        field.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        copy = Button(self.tr("Copy"), "copy", on_click=lambda: QGuiApplication.clipboard().setText(command))
        copy.setAccessibleName(self.tr("Copy {command}").format(command=command))
        self.commands.append(copy)
        return row(field, copy)

    def _copy_secret(self) -> None:
        QGuiApplication.clipboard().setText(self._secret)
        self.copy_secret.setText(self.tr("Copied"))
        self.secret_chosen.emit(check_secret(self._secret))

    async def _save(self) -> None:
        folder = await dialogs.choose_folder(self, self.tr("Save the Worker in a folder"), folder=self._remembered)
        if folder is None:
            return
        try:
            others = await asyncio.to_thread(in_the_way, folder)
            if others and not await self._may_replace(others):
                return
            paths = await asyncio.to_thread(save_worker, folder)
        except UserError as error:
            self.saved.set_line(said(error.message), "triangle-alert", "attention")
            return
        self._folder = folder
        files = display.plural(len(paths), "{n} file", "{n} files")
        words = self.tr("{files} saved in “{name}”.").format(files=files, name=folder.name)
        self.saved.set_line(words, "circle-check", "done")
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
