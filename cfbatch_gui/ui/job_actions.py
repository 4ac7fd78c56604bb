"""What can be done with jobs, in the sidebar or on their pages: rename, duplicate, tag, archive, delete, and undo."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from PySide6.QtWidgets import QMenu

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import FORGETTABLE, Job, JobState, Purpose, account_progress
from cfbatch_gui.core.messages import quoted
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.widgets import add_action
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said, tr


def can_be_judged(job: Job) -> bool:
    return job.kind is Kind.RANK and job.has_results


def can_be_searched(job: Job) -> bool:
    """Whether it is one of texts that are whole and still here."""
    return job.kind is Kind.EMBED and job.has_results and can_be_forgotten(job) and not job.archived


def can_be_forgotten(job: Job) -> bool:
    """Whether its texts can be removed."""
    return job.state in FORGETTABLE and not job.texts_forgotten_at


def can_be_reviewed(job: Job) -> bool:
    return job.purpose is Purpose.MATCH and job.has_results and not job.texts_forgotten_at


AT_WORK = (JobState.WAITING, JobState.WORKING)
_LONGEST_NAME = 40  # characters of a job's name in a menu
_MOST_IN_USE = 90  # characters of the tags that are named in the dialog


class Desk(Protocol):
    """The window with its pages, as far as it is needed here."""

    program: Program
    tasks: Tasks
    notices: Notices
    window: Any

    def show_jobs(self) -> None: ...
    def open_job(self, job_id: str) -> None: ...
    def show_changed(self, job: Job) -> None: ...
    def compare(self, *job_ids: str) -> None: ...
    def judge(self, *job_ids: str) -> None: ...
    def review(self, job_id: str) -> None: ...
    def export(self, job_id: str) -> None: ...


class JobActions:
    """What the user wants of jobs, in the list and on a page."""

    def __init__(self, desk: Desk) -> None:
        self._program, self._tasks, self._notices, self._window = desk.program, desk.tasks, desk.notices, desk.window
        self._show_jobs, self._open_job, self._changed = desk.show_jobs, desk.open_job, desk.show_changed
        self.compare, self.judge, self.review, self.export = desk.compare, desk.judge, desk.review, desk.export

    def can_be_compared(self, *jobs: Job) -> bool:
        """With each other, or one alone with others: a ranking with anything, vectors with a ranking."""
        together = jobs if len(jobs) > 1 else (*jobs, *self._program.ledger.jobs())
        return all(job.has_results for job in jobs) and any(map(can_be_judged, together))

    def fill_menu(self, menu: QMenu, jobs: Sequence[Job], own: Callable[[], object] = lambda: None) -> None:
        """Add what can be done with a job, or with all of several; `own` adds what the page of one has besides."""
        ids, is_one = [job.id for job in jobs], len(jobs) == 1
        if is_one:
            add_action(menu, tr("Rename") + "\tF2", lambda: self.rename(*ids), "pencil")
            duplicate = add_action(menu, tr("Duplicate"), lambda: self.duplicate(*ids), "copy")
            duplicate.setEnabled(not jobs[0].has_named_texts and not jobs[0].texts_forgotten_at)
        compared = [job for job in jobs if job.has_results]
        if len(compared) > (not is_one) and self.can_be_compared(*compared):
            text = tr("Compare these {n}…").format(n=figures.number(len(compared)))
            if is_one:
                text = tr("Compare with…") + "\t" + display.key_name("Ctrl+Shift+C")
            add_action(menu, text, lambda: self.compare(*(job.id for job in compared)), "git-compare")
        if is_one and can_be_judged(jobs[0]) and not jobs[0].texts_forgotten_at:
            text = tr("Judge its texts…") + "\t" + display.key_name("Ctrl+J")
            add_action(menu, text, lambda: self.judge(*ids), "list-ordered")
        if is_one and can_be_reviewed(jobs[0]):
            add_action(menu, tr("Review its matches…"), lambda: self.review(*ids), "circle-help")
        own()
        text = tr("Tags…") if is_one else figures.plural(len(ids), "Tag {n} job…", "Tag {n} jobs…")
        add_action(menu, text, lambda: self.tag(*ids), "tag")
        put_away = [job.id for job in jobs if job.is_sent and not job.archived]
        archived = [job.id for job in jobs if job.archived]
        if put_away:
            text = figures.plural(len(put_away), "Archive {n} job", "Archive {n} jobs")
            add_action(menu, tr("Archive") if is_one else text, lambda: self.archive(*put_away), "archive")
        elif archived:
            text = figures.plural(len(archived), "Take {n} job out of the archive", "Take {n} jobs out of the archive")
            text = tr("Take out of the archive") if is_one else text
            add_action(menu, text, lambda: self.archive(*archived), "archive")
        menu.addSeparator()
        text = tr("Delete") if is_one else figures.plural(len(ids), "Delete {n} job", "Delete {n} jobs")
        add_action(menu, text, lambda: self.delete(*ids), "trash-2")

    def duplicate(self, job_id: str) -> None:
        async def duplicate() -> None:
            name = tr("{name}, copy").format(name=self._program.ledger.job(job_id).name)
            job = await asyncio.to_thread(self._program.drafts.duplicate, job_id, name)
            self._show_jobs()
            self._open_job(job.id)

        self._tasks.start("duplicate", duplicate())

    def rename(self, job_id: str) -> None:
        async def rename() -> None:
            job = self._program.ledger.job(job_id)
            name = (await dialogs.ask_text(self._window, tr("Rename"), tr("Name"), text=job.name) or "").strip()
            if name and name != job.name:
                self._changed(await self._program.store.on_disk(self._program.drafts.rename, job_id, name))

        self._tasks.start(f"rename {job_id}", rename())

    def use_for(self, job_id: str, purpose: Purpose) -> None:
        async def use() -> None:
            change = partial(self._program.drafts.use_for, job_id, purpose=purpose)
            self._changed(await self._program.store.on_disk(change))

        self._tasks.start(f"use {job_id}", use())

    def archive(self, *job_ids: str) -> None:
        """Archive jobs, or take them out again if all are archived; a notice can undo it."""
        jobs = [self._program.ledger.job(job_id) for job_id in job_ids]
        to_archive = not all(job.archived for job in jobs)
        changed = [job for job in jobs if job.archived is not to_archive]
        ids = [job.id for job in changed]
        self._set_archived(ids, archived=to_archive)
        text, words = tr("Taken out of the archive: {jobs}."), tr("Undo taking {jobs} out of the archive")
        if to_archive:
            text, words = tr("In the archive, at the end of the list: {jobs}."), tr("Undo archiving {jobs}")
        self._show_undo(text, words, changed, lambda: self._set_archived(ids, archived=not to_archive))

    def tag(self, *job_ids: str) -> None:
        self._tasks.start("tag", self._tag(job_ids))

    async def _tag(self, job_ids: Sequence[str]) -> None:
        """Ask for the tags that all these jobs have; those that only some have stay."""
        from cfbatch_gui.core.jobs.drafts import clean_tags

        before = [self._program.ledger.job(job_id) for job_id in job_ids]
        common = [tag for tag in before[0].tags if all(tag in job.tags for job in before)]
        title = tr("Tags of “{name}”").format(name=figures.one_line(before[0].name, 60))
        if len(before) > 1:
            title = figures.plural(len(before), "Tags of {n} job", "Tags of {n} jobs")
        label, note = tr("Tags, with commas between them"), ""
        if known := {tag for job in self._program.ledger.jobs() for tag in job.tags}:
            in_use = ", ".join(sorted(known, key=str.casefold))
            note = tr("In use: {tags}").format(tags=figures.one_line(in_use, _MOST_IN_USE))
        text = await dialogs.ask_text(self._window, title, label, text=", ".join(common), accept=tr("Save"), note=note)
        if text is None:
            return
        typed = text.split(",")
        chosen = {job.id: clean_tags([*(tag for tag in job.tags if tag not in common), *typed]) for job in before}
        changed = [job for job in before if job.tags != chosen[job.id]]
        if not changed:
            return
        await self._set_tags({job.id: chosen[job.id] for job in changed})

        def undo() -> None:
            self._tasks.start("tag", self._set_tags({job.id: job.tags for job in changed}))

        self._show_undo(tr("Tags changed: {jobs}."), tr("Undo tagging {jobs}"), changed, undo)

    async def _set_tags(self, tags: Mapping[str, tuple[str, ...]]) -> None:
        for job in await self._program.store.on_disk(self._program.drafts.tag, tags):
            self._changed(job)

    def delete(self, *job_ids: str) -> None:
        self._tasks.start(f"delete {' '.join(job_ids)}", self._delete(job_ids))

    async def _delete(self, job_ids: Sequence[str]) -> None:
        jobs = [self._program.ledger.job(job_id) for job_id in job_ids]
        at_work = [job for job in jobs if job.state in AT_WORK]
        if at_work and not await self._is_sure(at_work):
            return
        for job in jobs:
            if job.is_sent:
                await self._program.runner.pause(job.id)
                await asyncio.to_thread(self._program.keep_labels, job.id)
        await self._program.store.on_disk(self._program.drafts.delete, *job_ids)
        self._show_jobs()
        resumed = [job.id for job in at_work]
        text, words = tr("Deleted: {jobs}."), tr("Undo deleting {jobs}")
        self._show_undo(text, words, jobs, lambda: self._undelete(job_ids, resumed))

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
        if self._program.settings.forget_after_export and can_be_forgotten(job):
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

    def _show_undo(self, text: str, words: str, jobs: Sequence[Job], undo: Callable[[], None]) -> None:
        """`text` and `words` name the `{jobs}`: one by its name, several by their number."""
        named = figures.plural(len(jobs), "{n} job", "{n} jobs")
        if len(jobs) == 1:
            named = said(quoted(figures.one_line(jobs[0].name, _LONGEST_NAME)))
        self._notices.show_undo(text.format(jobs=named), words.format(jobs=named), undo)

    async def _is_sure(self, at_work: Sequence[Job]) -> bool:
        title = tr("Delete what is at work?")
        names = figures.listed([said(quoted(figures.one_line(job.name, _LONGEST_NAME))) for job in at_work])
        pattern = tr("Sent and paid for, and its results would not be collected: {jobs}.")
        text = pattern.format(jobs=figures.one_line(names))
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
