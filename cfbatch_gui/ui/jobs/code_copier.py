"""Copying a job as code, and saving the requests that the code reads."""

import asyncio

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks


class CodeCopier(QWidget):
    """Copies a job as code. Never shown: a widget because it is the parent of a dialog. `tasks` reports errors."""

    def __init__(self, program: Program, notices: Notices, tasks: Tasks, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()
        self._program, self._notices, self._tasks = program, notices, tasks

    def copy(self, job: Job, name: str) -> None:
        """Copy the code to the clipboard, with a notice that offers to save the files that it reads.

        `name` is that of a `Language` of `core.jobs.as_code`.
        """
        from cfbatch_gui.core.jobs.as_code import Language, as_code, body_names, secret_variable

        language = Language(name)
        try:
            connection = self._program.address_book.connection(job.connection)
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
        from cfbatch_gui.core.jobs.as_code import save_bodies

        remembered = self._program.remembered_folder(FolderUse.REQUESTS)
        folder = await dialogs.choose_folder(self, self.tr("Save the requests in a folder"), folder=remembered)
        if folder is None:
            return
        paths = await asyncio.to_thread(save_bodies, self._program.folder(job.id), job, folder)
        files = display.plural(len(paths), "{n} file", "{n} files")
        self._notices.show_written(self.tr("Wrote {files} to “{name}”.").format(files=files, name=folder.name), *paths)


def _shown(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"
