"""Looks for the version before a draft's file, and carries out what the user chooses about it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.reuse import NOTHING
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.versions.draft_version import DraftVersion, choose_predecessor, look_at_version
from cfbatch_gui.ui.inputs.draft_reading import DraftReading, DraftSettings
from cfbatch_gui.ui.inputs.draft_state import DraftStates
from cfbatch_gui.ui.inputs.version_section import VersionSection


class DraftVersions(QObject):
    """What is known of each draft, by what it was examined to be; `changed` brings a draft's id."""

    changed = Signal(str)

    def __init__(self, program: Program, drafts: DraftStates, reading: DraftReading, settings: DraftSettings) -> None:
        super().__init__(drafts)
        self._program, self._drafts, self._reading, self._settings = program, drafts, reading, settings
        self._known: dict[str, tuple[Preflight, DraftVersion | None]] = {}

    def version(self, job_id: str) -> DraftVersion | None:
        """What is known of a draft as it was last examined; looks for it when that is not known yet."""
        found = self._drafts.state(job_id).preflight
        if found is None:
            return None
        known = self._known.get(job_id)
        if known is None or known[0] is not found:
            self._known[job_id] = (found, known[1] if known else None)
            if any(each.is_sent and each.id != job_id for each in self._program.ledger.jobs()):
                self._drafts.tasks.start(f"version {job_id}", self._look(job_id, found))
        return self._known[job_id][1]

    def show(self, section: VersionSection, job: Job) -> None:
        """Show what is known of a draft."""
        found = self._drafts.state(job.id).preflight
        section.show_version(self.version(job.id), found, job, self._program.ledger.jobs)

    def follow(self, section: VersionSection, job_id: Callable[[], str]) -> None:
        """Carry out what the user chooses for the draft that is shown then."""
        section.reuse_chosen.connect(lambda reuse: self.choose_reuse(job_id(), reuse))
        section.compared_with.connect(lambda other: self.compare_with(job_id(), other))
        section.anew_chosen.connect(lambda items, anew: self.send_anew(job_id(), items, anew))

    def choose_reuse(self, job_id: str, reuse: bool) -> None:
        """Take what earlier jobs have, or send everything."""
        options = self._drafts.job(job_id).options
        self._settings.change(job_id, options=replace(options, reuse=reuse))

    def compare_with(self, job_id: str, other: str) -> None:
        """Compare with the job that the user has chosen, "" for none."""
        self._drafts.tasks.start(f"compare {job_id}", self._compare(job_id, other))

    def send_anew(self, job_id: str, items: Sequence[int], anew: bool) -> None:
        """Have items sent although their results are there; without `anew` take back all that was chosen so."""
        self._drafts.tasks.start(f"anew {job_id}", self._send_anew(job_id, items, anew))

    async def _look(self, job_id: str, found: Preflight) -> None:
        reusable = found.reuse.found if found.reuse else NOTHING
        job, jobs = self._drafts.job(job_id), self._program.ledger.jobs()
        version = await asyncio.to_thread(look_at_version, job, jobs, self._program.folder, reusable)
        if self._drafts.state(job_id).preflight is found:
            self._known[job_id] = (found, version)
            self.changed.emit(job_id)

    async def _compare(self, job_id: str, other: str) -> None:
        await asyncio.to_thread(choose_predecessor, self._program.folder(job_id), other)
        found = self._drafts.state(job_id).preflight
        if found is not None:
            await self._look(job_id, found)

    async def _send_anew(self, job_id: str, items: Sequence[int], anew: bool) -> None:
        await asyncio.to_thread(self._program.drafts.send_anew, job_id, items, anew=anew)
        self._reading.start(job_id, self._drafts.state(job_id))
