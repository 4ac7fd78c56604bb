"""Changes that a user makes to a job from the sidebar or its page: rename, duplicate, archive, delete and undo."""

import asyncio
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks


class SettingsMemory:
    """Short texts by key, kept in the settings. A change is saved a little later; a failure to save it is ignored."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def get(self, key: str) -> str:
        """The text of a key, "" when there is none."""
        return self._program.settings.table_layouts.get(key, "")

    def set(self, key: str, value: str) -> None:
        """Keep a text under a key; the settings are saved only when it differs."""
        layouts = self._program.settings.table_layouts
        if layouts.get(key, "") != value:
            self._program.change_settings(table_layouts={**layouts, key: value})


AT_WORK = (JobState.WAITING, JobState.WORKING)


def _tr(text: str) -> str:
    return QCoreApplication.translate("workspace", text)


class JobChanges:
    """Makes each change in a task.

    `show_jobs` refreshes the sidebar, `open_job` opens a job by its id, and `changed` is called with
    every job that was renamed, archived or taken out of the archive.
    """

    def __init__(
        self,
        program: Program,
        tasks: Tasks,
        notices: Notices,
        window: QWidget,
        *,
        show_jobs: Callable[[], None],
        open_job: Callable[[str], None],
        changed: Callable[[Job], None],
    ) -> None:
        self._program, self._tasks, self._notices, self._window = program, tasks, notices, window
        self._show_jobs, self._open_job, self._changed = show_jobs, open_job, changed

    def duplicate(self, job_id: str) -> None:
        """Create a draft with the same data and settings, and open it."""

        async def duplicate() -> None:
            name = _tr("{name}, copy").format(name=self._program.ledger.job(job_id).name)
            job = await asyncio.to_thread(self._program.drafts.duplicate, job_id, name)
            self._show_jobs()
            self._open_job(job.id)

        self._tasks.start("duplicate", duplicate())

    def rename(self, job_id: str, name: str) -> None:
        """Rename a job."""
        self._change(job_id, partial(self._program.drafts.rename, job_id, name))

    def archive(self, job_id: str) -> None:
        """Archive a job, with a notice that offers to undo it, or take an archived job out again."""
        job = self._program.ledger.job(job_id)
        self._change(job_id, partial(self._program.drafts.archive, job_id, archived=not job.archived))
        if not job.archived:
            self._notices.show_notice(
                _tr("“{name}” is in the archive. To see it again, find it by its name.").format(name=job.name),
                button=_tr("Undo"),
                on_button=lambda: self._take_out(job_id),
            )

    def delete(self, job_id: str) -> None:
        """Delete a job, after a confirmation if it is at work; a notice offers to undo it."""

        async def delete() -> None:
            job = self._program.ledger.job(job_id)
            if job.state in AT_WORK and not await self._is_sure(job):
                return
            await self._program.runner.pause(job_id)
            await asyncio.to_thread(self._program.keep_labels, job_id)
            await self._program.store.on_disk(self._program.drafts.delete, job_id)
            self._show_jobs()
            self._notices.show_notice(
                _tr("“{name}” was deleted.").format(name=job.name),
                button=_tr("Undo"),
                on_button=lambda: self._undelete(job_id),
            )

        self._tasks.start(f"delete {job_id}", delete())

    def _change(self, job_id: str, change: Callable[[], Job]) -> None:
        """Run `change` on the disk's thread, so that the runner changes no job while it reads and writes."""

        async def do() -> None:
            self._changed(await self._program.store.on_disk(change))

        self._tasks.start(f"change {job_id}", do())

    async def _is_sure(self, job: Job) -> bool:
        return await dialogs.ask(
            self._window,
            _tr("Delete a job that is at work?"),
            _tr("“{name}” was sent and is paid for, and its results would not be collected.").format(name=job.name),
            accept=_tr("Delete"),
            danger=True,
        )

    def _take_out(self, job_id: str) -> None:
        self._change(job_id, partial(self._program.drafts.archive, job_id, archived=False))

    def _undelete(self, job_id: str) -> None:
        async def undelete() -> None:
            await self._program.store.on_disk(partial(self._program.drafts.delete, job_id, deleted=False))
            self._show_jobs()
            self._open_job(job_id)
            if self._program.ledger.job(job_id).state is JobState.PAUSED:
                await self._program.runner.carry_on(job_id)

        self._tasks.start(f"delete {job_id}", undelete())
