"""A job as code on the clipboard, and the requests that the code reads beside it."""

import asyncio

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.as_code import Language, as_code, body_names, save_bodies, secret_variable
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui import dialogs, words
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks


class CodeCopier(QWidget):
    """Never shown; a widget because its dialog stands above the page that owns it. Errors go the way of `tasks`."""

    def __init__(self, program: Program, notices: Notices, tasks: Tasks, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()
        self._program, self._notices, self._tasks = program, notices, tasks

    def copy(self, job: Job, language: Language) -> None:
        """Put the code on the clipboard, and offer to save the files that it reads."""
        try:
            connection = self._program.connection(job.connection)
        except UserError as error:
            self._notices.show_error(error)
            return
        names = body_names(max(1, len(job.batches)))
        QGuiApplication.clipboard().setText(as_code(job, connection, language, bodies=names))
        if language is Language.WORKER:
            said = self.tr("Copied. The Worker runs in your account and needs no token.")
        else:
            said = self.tr("Copied. It takes the token from ${variable}, and reads {files} beside it.").format(
                variable=secret_variable(connection), files=_shown(names)
            )

        def save() -> None:
            self._tasks.start("save requests", self._save(job))

        self._notices.show_notice(said, "done", button=self.tr("Save its requests…"), on_button=save)

    async def _save(self, job: Job) -> None:
        folder = await dialogs.choose_folder(self, self.tr("Save the requests in a folder"))
        if folder is None:
            return
        paths = await asyncio.to_thread(save_bodies, self._program.folder(job.id), job, folder)
        files = words.plural(len(paths), self.tr("{n} file"), self.tr("{n} files"))
        self._notices.show_notice(self.tr("Wrote {files} to “{name}”.").format(files=files, name=folder.name), "done")


def _shown(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"
