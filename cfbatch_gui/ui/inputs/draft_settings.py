"""Saving a draft's own settings: its name, kind, model, connection and options."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.inputs.draft_reading import DraftReading
from cfbatch_gui.ui.inputs.draft_state import DraftStates


class DraftSettings:
    """Writes changes of a job to the ledger; `is_saving` of its state is set until the last one is written."""

    def __init__(self, program: Program, drafts: DraftStates, reading: DraftReading) -> None:
        self._program, self._drafts, self._reading = program, drafts, reading
        self._unsaved: Counter[str] = Counter()  # changes that are not written yet, by job id
        self._changes = 0

    def change(
        self,
        job_id: str,
        *,
        kind: Kind | None = None,
        model: str | None = None,
        connection: str | None = None,
        options: JobOptions | None = None,
    ) -> None:
        """Change the settings that are given. A new model or new options examine the draft again."""
        change = partial(
            self._program.drafts.change, job_id, kind=kind, model=model, connection=connection, options=options
        )
        self._save(job_id, change, examine=bool(model or options))

    def rename(self, job_id: str, name: str) -> None:
        """Give the draft another name."""
        self._save(job_id, partial(self._program.drafts.rename, job_id, name), examine=False)

    def _save(self, job_id: str, change: Callable[[], Job], *, examine: bool) -> None:
        self._changes += 1  # a task name of its own for each: a later change must not cancel an earlier one
        self._unsaved[job_id] += 1
        self._drafts.set(job_id, replace(self._drafts.state(job_id), is_saving=True))
        self._drafts.tasks.start(f"change {self._changes}", self._write(job_id, change, examine=examine))

    async def _write(self, job_id: str, change: Callable[[], Job], *, examine: bool) -> None:
        try:
            await self._program.store.on_disk(change)
        finally:
            self._unsaved[job_id] -= 1
            self._drafts.set(job_id, replace(self._drafts.state(job_id), is_saving=self._unsaved[job_id] > 0))
        self._drafts.job_changed.emit(job_id)
        state = self._drafts.state(job_id)
        if examine and (state.is_read or state.trouble or state.is_reading):
            self._reading.start(job_id, state)
