"""The jobs as the parts at work see them: read at any time, changed on the disk first and shown after that."""

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from cfbatch_gui.core.errors import DataError, DiskFull
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Batch, Job
from cfbatch_gui.core.jobs.store.data_folder import submissions_elsewhere
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.submissions import Submission, write_down
from cfbatch_gui.core.system.paths import Paths

if TYPE_CHECKING:
    from cfbatch_gui.core.workers_ai.client import WorkersAI

T = TypeVar("T")

_log = logging.getLogger(__name__)


class JobStore:
    """The ledger, the job folders, and the clients (`client_for` raises NotConnected); for the loop's thread. `disk`
    runs the writes in order. While `holds_back` is true nothing is sent. `references_are_echoed`: a check has seen
    references in the connection's answers.
    """

    def __init__(
        self,
        ledger: Ledger,
        paths: Paths,
        client_for: "Callable[[str], WorkersAI]",
        *,
        disk: Executor,
        on_change: Callable[[Job], None],
        clock: Callable[[], float] = time.time,
        references_are_echoed: Callable[[Job], bool] = lambda job: False,
    ) -> None:
        self.paths, self.client_for, self.references_are_echoed = paths, client_for, references_are_echoed
        self._ledger, self._disk, self._on_change, self._clock = ledger, disk, on_change, clock
        self.jobs, self.job, self.batch, self.make_room = ledger.jobs, ledger.job, ledger.batch, ledger.make_room
        self.holds_back = False

    def job_with(self, connection: str, request_id: str) -> Job | None:
        of_connection = (job for job in self.jobs() if job.connection == connection)
        return next((job for job in of_connection if any(each.request_id == request_id for each in job.batches)), None)

    def folder(self, job_id: str) -> JobFolder:
        return JobFolder(self.paths.job(job_id))

    def client(self, job: Job) -> "WorkersAI":
        """The client of the job's own connection. Raises NotConnected for one that was deleted."""
        return self.client_for(job.connection)

    async def on_disk(self, function: Callable[..., T], *arguments: object) -> T:
        """Run a function that writes the ledger or the submissions file, after all that were handed in before."""
        return await asyncio.get_running_loop().run_in_executor(self._disk, function, *arguments)

    async def save(self, batch: Batch, **job_changes: object) -> Job:
        """Commit a batch, with changes of its job in the same transaction, then show the job.

        Raises DiskFull and DataError; nothing is shown then.
        """
        batch = replace(batch, changed_at=self._clock())
        job = await self.on_disk(partial(self._ledger.save_batch, batch, **job_changes))
        self.show(job)
        return job

    async def change_batches(
        self, job_id: str, numbers: Collection[int], change: Callable[[Batch], Batch], **job_changes: object
    ) -> Job:
        """Commit what `change` makes of batches as they are when the write begins, then show the job.

        Raises DiskFull and DataError; nothing is shown then.
        """

        def changed(batch: Batch) -> Batch:
            new = change(batch) if batch.number in numbers else batch
            return new if new is batch else replace(new, changed_at=self._clock())

        def with_changes(job: Job) -> Job:
            return replace(job, batches=tuple(map(changed, job.batches)), **job_changes)  # type: ignore[arg-type]  # its fields

        return await self.change(job_id, with_changes)

    async def change(self, job_id: str, change: Callable[[Job], Job]) -> Job:
        """Commit what `change` makes of the job as it is when the write begins, then show it.

        Raises DiskFull, DataError, and whatever `change` raises.
        """
        job = await self.on_disk(self._ledger.change, job_id, change)
        self.show(job)
        return job

    def write_down(self, *submissions: Submission) -> None:
        """Write lines to the submissions file, then to its copy outside of the data folder, for the `disk` to run.

        Raises DiskFull and DataError for the first; the copy is not needed unless the whole folder is put back.
        """
        try:
            write_down(self.paths.submissions, *submissions)
        except DiskFull:
            if not self.make_room():
                raise
            write_down(self.paths.submissions, *submissions)
        elsewhere = submissions_elsewhere(self.paths, self._ledger.folder_identity()[0])
        if elsewhere is not None:
            try:
                write_down(elsewhere, *submissions)
            except DataError as error:
                _log.warning("The copy of submissions.jsonl was not written: %s", error.detail or error.message)

    async def keep_accepted(self, connection_id: str, model: str, attempt: str, request_id: str, sha256: str) -> None:
        """Write down a batch of a probe, which belongs to no job. Raises DiskFull and DataError."""
        submission = Submission(attempt, request_id, sha256, self._clock(), connection=connection_id, model=model)
        await self.on_disk(self.write_down, submission)

    def show(self, job: Job) -> None:
        self._on_change(job)

    def show_batch(self, batch: Batch) -> None:
        """Show times of checks and passing errors, which are kept in memory only."""
        self.show(self._ledger.show_batch(batch))
