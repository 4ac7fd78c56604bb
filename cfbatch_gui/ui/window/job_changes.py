"""Changes to a job from the sidebar or its page: rename, duplicate, tag, archive, delete and undo."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtWidgets import QDialog, QWidget

from cfbatch_gui.core.jobs.account.shards import account_progress
from cfbatch_gui.core.jobs.states import FORGETTABLE, Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.jobs.library import JobActions, TagDialog
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks


class SettingsMemory:
    """Short texts in the settings; saved a little later, and a failure to save is ignored."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def get(self, key: str) -> str:
        return self._program.settings.table_layouts.get(key, "")

    def set(self, key: str, value: str) -> None:
        layouts = self._program.settings.table_layouts
        if layouts.get(key, "") != value:
            self._program.change_settings(table_layouts={**layouts, key: value})


AT_WORK = (JobState.WAITING, JobState.WORKING)
_LONGEST_NAME = 40  # characters of a job's name in a menu


class JobChanges:
    """`changed` is called with every job that was renamed, tagged, archived or taken out of the archive."""

    def __init__(
        self,
        program: Program,
        tasks: Tasks,
        notices: Notices,
        window: QWidget,
        actions: JobActions,
        *,
        show_jobs: Callable[[], None],
        open_job: Callable[[str], None],
        changed: Callable[[Job], None],
    ) -> None:
        self._program, self._tasks, self._notices, self._window = program, tasks, notices, window
        self._show_jobs, self._open_job, self._changed = show_jobs, open_job, changed
        actions.renamed.connect(self.rename)
        actions.duplicated.connect(self.duplicate)
        actions.archived.connect(self.archive)
        actions.deleted.connect(self.delete)
        actions.tags_wanted.connect(self.tag)
        actions.forget_wanted.connect(self.forget_texts)

    def duplicate(self, job_id: str) -> None:
        async def duplicate() -> None:
            name = tr("{name}, copy").format(name=self._program.ledger.job(job_id).name)
            job = await asyncio.to_thread(self._program.drafts.duplicate, job_id, name)
            self._show_jobs()
            self._open_job(job.id)

        self._tasks.start("duplicate", duplicate())

    def rename(self, job_id: str, name: str) -> None:
        self._change(job_id, partial(self._program.drafts.rename, job_id, name))

    def archive(self, job_ids: Sequence[str]) -> None:
        """Archive jobs, or take them out again if all are archived; a notice can undo it."""
        jobs = [self._program.ledger.job(job_id) for job_id in job_ids]
        to_archive = not all(job.archived for job in jobs)
        changed = [job for job in jobs if job.archived is not to_archive]
        ids, count = [job.id for job in changed], len(changed)
        self._set_archived(ids, archived=to_archive)
        if count == 1 and to_archive:
            text = tr("“{name}” is in the archive, at the end of the list.").format(name=changed[0].name)
        elif count == 1:
            text = tr("“{name}” is out of the archive.").format(name=changed[0].name)
        elif to_archive:
            text = display.plural(
                count,
                "{n} job is in the archive, at the end of the list.",
                "{n} jobs are in the archive, at the end of the list.",
            )
        else:
            text = display.plural(count, "{n} job is out of the archive.", "{n} jobs are out of the archive.")
        pattern = tr("Undo archiving {jobs}") if to_archive else tr("Undo taking {jobs} out of the archive")
        words = pattern.format(jobs=_named(changed))
        self._notices.show_undo(text, words, lambda: self._set_archived(ids, archived=not to_archive))

    def tag(self, job_ids: Sequence[str]) -> None:
        self._tasks.start("tag", self._tag(job_ids))

    async def _tag(self, job_ids: Sequence[str]) -> None:
        from cfbatch_gui.core.jobs.drafts import clean_tags

        known = {tag for job in self._program.ledger.jobs() for tag in job.tags}
        before = [self._program.ledger.job(job_id) for job_id in job_ids]
        dialog = TagDialog(before, known, self._window)
        if await dialogs.finished(dialog) != QDialog.DialogCode.Accepted:
            return
        chosen = {job_id: clean_tags(tags) for job_id, tags in dialog.chosen().items()}
        changed = [job for job in before if job.tags != chosen[job.id]]
        if not changed:
            return
        await self._set_tags({job.id: chosen[job.id] for job in changed})
        text = tr("“{name}” has other tags.").format(name=changed[0].name)
        if len(changed) > 1:
            text = display.plural(len(changed), "{n} job has other tags.", "{n} jobs have other tags.")
        words = tr("Undo tagging {jobs}").format(jobs=_named(changed))

        def undo() -> None:
            self._tasks.start("tag", self._set_tags({job.id: job.tags for job in changed}))

        self._notices.show_undo(text, words, undo)

    async def _set_tags(self, tags: Mapping[str, tuple[str, ...]]) -> None:
        for job in await self._program.store.on_disk(self._program.drafts.tag, tags):
            self._changed(job)

    def delete(self, job_ids: Sequence[str]) -> None:
        self._tasks.start(f"delete {' '.join(job_ids)}", self._delete(job_ids))

    async def _delete(self, job_ids: Sequence[str]) -> None:
        jobs = [self._program.ledger.job(job_id) for job_id in job_ids]
        at_work = [job for job in jobs if job.state in AT_WORK]
        if at_work and not await self._is_sure(at_work, len(jobs)):
            return
        for job in jobs:
            await self._program.runner.pause(job.id)
            await asyncio.to_thread(self._program.keep_labels, job.id)
        await self._program.store.on_disk(self._program.drafts.delete, *job_ids)
        self._show_jobs()
        text = tr("“{name}” was deleted.").format(name=jobs[0].name)
        if len(jobs) > 1:
            text = display.plural(len(jobs), "{n} job was deleted.", "{n} jobs were deleted.")
        words = tr("Undo deleting {jobs}").format(jobs=_named(jobs))
        resumed = [job.id for job in at_work]
        self._notices.show_undo(text, words, lambda: self._undelete(job_ids, resumed))

    def forget_texts(self, job_id: str) -> None:
        async def forget() -> None:
            job = self._program.ledger.job(job_id)
            is_sure = await dialogs.ask(
                self._window,
                tr("Remove the texts of this job?"),
                tr(
                    "Scores, ranks, vectors and ids of “{name}” stay. Its texts and its other columns go for good, and"
                    " it cannot be sent again."
                ).format(name=job.name),
                accept=tr("Remove texts"),
                danger=True,
            )
            if is_sure:
                await self._forget_texts(job)

        self._tasks.start(f"forget {job_id}", forget())

    def exported_all(self, job_id: str) -> None:
        job = self._program.ledger.job(job_id)
        can_forget = job.state in FORGETTABLE and not job.texts_forgotten_at
        if self._program.settings.forget_after_export and can_forget:
            self._tasks.start(f"forget {job_id}", self._forget_texts(job))

    async def _forget_texts(self, job: Job) -> None:
        await self._program.actions.forget_texts(job.id)
        text = tr("The texts of “{name}” were removed. Scores, ranks, vectors and ids are kept.")
        self._notices.show_notice(text.format(name=job.name), "done")

    def _set_archived(self, job_ids: Sequence[str], *, archived: bool) -> None:
        async def do() -> None:
            change = partial(self._program.drafts.archive, *job_ids, archived=archived)
            for job in await self._program.store.on_disk(change):
                self._changed(job)

        self._tasks.start(f"archive {' '.join(job_ids)}", do())

    def _change(self, job_id: str, change: Callable[[], Job]) -> None:
        """Run `change` on the disk's thread, so that the runner changes no job while it reads and writes."""

        async def do() -> None:
            self._changed(await self._program.store.on_disk(change))

        self._tasks.start(f"change {job_id}", do())

    async def _is_sure(self, at_work: Sequence[Job], of: int) -> bool:
        if of == 1:
            title = tr("Delete a job that is at work?")
            text = tr("“{name}” was sent and is paid for, and its results would not be collected.").format(
                name=at_work[0].name
            )
        else:
            title = tr("Delete jobs that are at work?")
            text = display.plural(
                len(at_work),
                "{n} of these jobs was sent and is paid for, and its results would not be collected.",
                "{n} of these jobs were sent and are paid for, and their results would not be collected.",
            )
        if any(account_progress(job).is_used for job in at_work):
            text += " " + tr("What your account collects stays there; “In your account…” in the menu Job lists it.")
        return await dialogs.ask(self._window, title, text, accept=tr("Delete"), danger=True)

    def _undelete(self, job_ids: Sequence[str], resumed: Sequence[str]) -> None:
        async def undelete() -> None:
            await self._program.store.on_disk(partial(self._program.drafts.delete, *job_ids, deleted=False))
            self._show_jobs()
            if len(job_ids) == 1:
                self._open_job(job_ids[0])
            for job_id in resumed:
                await self._program.runner.carry_on(job_id)

        self._tasks.start(f"delete {' '.join(job_ids)}", undelete())


def _named(jobs: Sequence[Job]) -> str:
    if len(jobs) == 1:
        return f"“{display.one_line(jobs[0].name, _LONGEST_NAME)}”"
    return display.plural(len(jobs), "{n} job", "{n} jobs")
