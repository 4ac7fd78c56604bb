"""What the menus start beside pages: export, adding a job, backing up, the dialog About, and closing."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.account.shards import account_progress
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.result_view import RowChoice, imported
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.window.job_changes import AT_WORK
from cfbatch_gui.ui.window.main_window import MainWindow

if TYPE_CHECKING:
    from cfbatch_gui.core.results.exports.base import ExportOptions


class Commands(QObject):
    """`exported_all`, `attached` and `wanted` bring the id of a job: all written, added, to be opened."""

    exported_all = Signal(str)
    attached = Signal(str)
    wanted = Signal(str)

    def __init__(self, program: Program, window: MainWindow, tasks: Tasks) -> None:
        super().__init__(window)
        self._program, self._window, self._tasks = program, window, tasks
        window.attach.connect(lambda: tasks.start("attach", self._attach()))
        window.account.connect(self.show_account)
        window.back_up.connect(lambda: tasks.start("back up", self._back_up()))
        window.about.connect(lambda: tasks.start("about", self._show_about()))

    def export(self, job_id: str, *, limits: "ExportOptions | None", choices: Sequence[RowChoice]) -> None:
        self._tasks.start("export", self._export(job_id, limits, tuple(choices)))

    async def _export(self, job_id: str, limits: "ExportOptions | None", choices: tuple[RowChoice, ...]) -> None:
        await imported("cfbatch_gui.ui.results.export_dialog")
        from cfbatch_gui.ui.results.export_dialog import ExportDialog

        job, notices = self._program.ledger.job(job_id), self._window.notices
        dialog = ExportDialog(self._program, notices, job, limits=limits, choices=choices, parent=self._window)
        dialog.all_written.connect(self.exported_all)
        dialog.open()

    async def _attach(self) -> None:
        await imported("cfbatch_gui.ui.jobs.attach_dialog")
        from cfbatch_gui.ui.jobs.attach_dialog import AttachDialog

        dialog = AttachDialog(self._program, self._window)
        dialog.attached.connect(self.attached)
        dialog.open()

    def show_account(self, connection_id: str = "") -> None:
        self._tasks.start("account", self._show_account(connection_id))

    async def _show_account(self, connection_id: str) -> None:
        await imported("cfbatch_gui.ui.jobs.account_dialog")
        await self._program.prepare("account_jobs")
        from cfbatch_gui.ui.jobs.account_dialog import AccountDialog

        dialog = AccountDialog(self._program, self._tasks, connection_id=connection_id, parent=self._window)
        dialog.opened.connect(self.wanted)
        dialog.connection_wanted.connect(self._window.connection)
        dialog.unlock_wanted.connect(self._window.library.unlock_wanted)
        dialog.open()

    async def _show_about(self) -> None:
        await imported("cfbatch_gui.ui.help")
        from cfbatch_gui.ui.help import AboutDialog

        AboutDialog(self._program, self._window).open()

    async def _back_up(self) -> None:
        from cfbatch_gui.core.jobs.store.data_folder import back_up

        path = await dialogs.save_file(
            self._window,
            tr("Back up all jobs"),
            name="cfbatch-jobs.zip",
            folder=self._program.remembered_folder(FolderUse.BACKUPS),
            suffix="zip",
        )
        if path is None:
            return
        count = await asyncio.to_thread(back_up, self._program.paths, path)
        files = display.plural(count, "{n} file", "{n} files")
        said = tr("Backed up {files} to “{name}”.").format(files=files, name=path.name)
        self._window.notices.show_written(said, path)

    async def may_close(self) -> bool:
        """Whether the window may close: while jobs are at work here, the user is told once that they go on."""
        at_work = [job for job in self._program.ledger.jobs() if job.state in AT_WORK]
        progress = [each for job in at_work if not (each := account_progress(job)).lid_may_close]
        if progress and not self._program.settings.seen_close_note:
            text = tr("That is safe: the work goes on at the service, and CF Batch collects it at its next start.")
            if any(each.is_used for each in progress):
                text += " " + tr("What your account was not handed yet is handed over then.")
            if not await dialogs.ask(self._window, tr("Close while jobs are at work?"), text, accept=tr("Close")):
                return False
            with suppress(UserError):  # closing must work with a full disk, too
                await self._program.keep_settings(seen_close_note=True)
        return True
