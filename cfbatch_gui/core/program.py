"""The whole program without a user interface."""

import asyncio
import threading
import time
from collections.abc import Callable, Collection
from collections.abc import Mapping as Environment
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cfbatch_gui.core.connections.address_book import AddressBook
from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.jobs.store.data_folder import FolderAnswer, open_or_recover, place_of, settle_doubt
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import end_list, keep_list
from cfbatch_gui.core.system.paths import Paths, state_root
from cfbatch_gui.core.system.settings import Budget, FolderUse, RememberedFolder, Settings, SettingsStore
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE

# What opens a data folder is imported above; everything else where it is first needed, so that a window is there
# before numpy, httpx and the readers of files are.
if TYPE_CHECKING:
    from cfbatch_gui.core.connections.user_connections import Connections
    from cfbatch_gui.core.jobs.drafts import Drafts
    from cfbatch_gui.core.jobs.elsewhere import JobsElsewhere
    from cfbatch_gui.core.jobs.plan.packing import Plan
    from cfbatch_gui.core.jobs.plan.spending import Spent
    from cfbatch_gui.core.jobs.reuse import EarlierResults
    from cfbatch_gui.core.jobs.run.job_actions import JobActions
    from cfbatch_gui.core.jobs.run.runner import Runner
    from cfbatch_gui.core.judgements.book import Shelf
    from cfbatch_gui.core.judgements.decisions import Decisions
    from cfbatch_gui.core.vectorize.vectorize import Vectorize
    from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata

DELETED = message("connection_job_was_deleted_what_is")

T = TypeVar("T")


class made_once(cached_property[T]):  # noqa: N801 - used as a decorator, like its base
    """A part that is made when it is first asked for, also by several threads, by a lock as `cached_property` had."""

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> T:  # type: ignore[override]
        with vars(instance).setdefault(f"{self.attrname} is being made", threading.RLock()):
            made: T = super().__get__(instance, owner)
        return made


class Program:
    """Used only from the event loop that opened it."""

    def __init__(
        self,
        paths: Paths,
        ledger: Ledger,
        *,
        environ: Environment[str, str],
        credentials: Credentials,
        on_change: Callable[[Job], None],
        practice_times: tuple[float, float],
        patience: int | None,
        clock: Callable[[], float],
    ) -> None:
        self.paths, self.ledger, self.credentials = paths, ledger, credentials
        self.clock = clock
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._settings = SettingsStore(paths.settings, self._disk)
        self.keep_settings, self.change_settings = self._settings.keep, self._settings.change
        self._patience = patience
        self._decisions: dict[str, Decisions] = {}  # by the names of their books
        self.damage: tuple[str, ...] = ()  # sentences about what was found damaged at this start
        self.address_book = AddressBook(
            lambda: self.settings.connections,
            paths,
            credentials,
            environ=environ,
            practice_times=practice_times if self.settings.practice_waits else (0.0, 0.0),
            clock=clock,
        )
        self.store = JobStore(
            *(ledger, paths, self.address_book.client),
            disk=self._disk,
            on_change=on_change,
            clock=clock,
            references_are_echoed=lambda job: self.connections.learned(job.connection, job.model).references is True,
        )

    @made_once
    def drafts(self) -> "Drafts":
        from cfbatch_gui.core.jobs.drafts import Drafts

        return Drafts(
            self.ledger, self.paths, clock=self.clock, metadata_for=self._metadata_for, earlier=self.earlier_results
        )

    @made_once
    def earlier_results(self) -> "EarlierResults":
        from cfbatch_gui.core.connections.address_book import service_mark_at
        from cfbatch_gui.core.jobs.reuse import EarlierResults

        book = self.address_book
        return EarlierResults(self.ledger.jobs, self.folder, lambda job: service_mark_at(book, job.connection))

    @made_once
    def runner(self) -> "Runner":
        from cfbatch_gui.core.jobs.run.runner import Runner

        return Runner(self.store, clock=self.clock, patience=self._patience)

    @made_once
    def actions(self) -> "JobActions":
        from cfbatch_gui.core.jobs.run.job_actions import JobActions

        return JobActions(self.store, self.runner, metadata_for=self._metadata_for, earlier=self.earlier_results)

    @made_once
    def elsewhere(self) -> "JobsElsewhere":
        from cfbatch_gui.core.jobs.elsewhere import JobsElsewhere

        return JobsElsewhere(self.store, self.drafts, self.runner)

    @made_once
    def judgements(self) -> "Shelf":
        from cfbatch_gui.core.judgements.book import Shelf

        return Shelf(self.paths.judgements, lambda: self.settings.judgement_book)

    def decisions_of(self, job: Job) -> "Decisions":
        """What is decided about the rows of a job, by its purpose."""
        from cfbatch_gui.core.judgements.decisions import Decisions, book_of_decisions

        name = book_of_decisions(job)
        return self._decisions.setdefault(name, Decisions(self.judgements, clock=self.clock, book=name))

    @made_once
    def connections(self) -> "Connections":
        from cfbatch_gui.core.connections.user_connections import Connections
        from cfbatch_gui.core.workers_ai.model_listing import ModelLists

        return Connections(
            self.address_book,
            ModelLists(self.paths.catalogue, clock=self.clock),
            settings=lambda: self.settings,
            keep_settings=self.keep_settings,
            pause_jobs=lambda connection_id: self.runner.pause_all(connection_id, because=DELETED),
            keep_accepted=self.store.keep_accepted,
        )

    @made_once
    def vectorize(self) -> "Vectorize":
        from cfbatch_gui.core.vectorize.push_values import PushSettings
        from cfbatch_gui.core.vectorize.vectorize import Vectorize

        def paid_model(job: Job) -> "ModelMetadata | None":
            is_paid = self.address_book.is_counted_by_cloudflare(job.connection)
            return self._metadata_for(job) if is_paid else None

        settings = PushSettings(self.clock)
        return Vectorize(self.address_book.client, self.ledger.job, self.paths, settings, paid_model=paid_model)

    @classmethod
    async def open(
        cls,
        root: Path,
        *,
        environ: Environment[str, str],
        on_change: Callable[[Job], None] = lambda job: None,
        credentials: Credentials | None = None,
        practice_times: tuple[float, float] = (2.0, 3.0),
        patience: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> "Program":
        """Open the data folder as its one writer. `practice_times`: seconds queued and running. Raises DataError."""
        paths = Paths(root, state_root(environ))
        await asyncio.to_thread(paths.create)
        here = await asyncio.to_thread(place_of, root)
        await asyncio.to_thread(keep_list, paths.unfinished)  # first: opening writes files too
        try:
            opened = await asyncio.to_thread(lambda: open_or_recover(paths, clock=clock, here=here))
        except BaseException:
            end_list(paths.unfinished)
            raise
        program = cls(
            paths,
            opened.ledger,
            environ=environ,
            credentials=credentials or Credentials(environ=environ),
            on_change=on_change,
            practice_times=practice_times,
            patience=patience,
            clock=clock,
        )
        program.damage = (*filter(None, (program._settings.damage,)), *opened.damage)
        program.store.holds_back = opened.is_doubtful  # until `settle_doubt`
        if opened.ledger.deleted_jobs():
            await asyncio.to_thread(program.drafts.clear_deleted)
        return program

    def make_parts(self) -> None:
        """Make what is else made at its first use; for a thread, as it imports."""
        _ = self.drafts, self.runner, self.actions, self.elsewhere, self.connections, self.vectorize

    async def close(self) -> None:
        """Batches at the service go on there."""
        if "runner" in vars(self):
            await self.runner.close()
        await asyncio.to_thread(self._disk.shutdown)
        if "judgements" in vars(self):
            await asyncio.to_thread(self.judgements.close)
        end_list(self.paths.unfinished)
        self.ledger.close()

    def keep_labels(self, job_id: str) -> None:
        """Put a job's labels into the book of judgements; blocking. Raises DataError, DiskFull."""
        from cfbatch_gui.core.evaluation.joining import read_run
        from cfbatch_gui.core.evaluation.judged import keep_labels
        from cfbatch_gui.core.job_folder.folder import texts_forgotten

        job = self.ledger.job(job_id)
        if job.kind is Kind.RANK and job.has_results and texts_forgotten(self.folder(job_id)) is None:
            keep_labels(self.judgements, read_run(self.folder(job_id), job), time=self.clock())

    async def resume_all(self) -> None:
        """Where no job is under way, nothing is imported."""
        if any(job.is_sent for job in self.ledger.jobs()):
            await self.runner.resume_all()

    async def clear_copies(self) -> None:
        """Where the account has nothing, nothing is imported."""
        if any(batch.shard for job in self.ledger.jobs() for batch in job.batches):
            await self.runner.clear_copies()

    async def settle_doubt(self, answer: FolderAnswer) -> tuple[Job, ...]:
        """Do what the user says about the folder; the jobs that wait for a word now. Raises DiskFull, DataError."""
        here = await asyncio.to_thread(place_of, self.paths.root)
        paused = await self.store.on_disk(settle_doubt, self.ledger, self.paths, here, answer)
        self.store.holds_back = False
        for job in paused:
            self.store.show(self.ledger.job(job.id))
        await self.resume_all()
        return paused

    @property
    def settings(self) -> Settings:
        return self._settings.current

    def remembered_folder(self, use: FolderUse) -> RememberedFolder:
        return RememberedFolder(self._settings, use)

    def folder(self, job_id: str) -> JobFolder:
        return JobFolder(self.paths.job(job_id))

    def examine(self, job_id: str) -> "Plan":
        """Put right by what finished jobs took; for a thread. Raises UserError."""
        from cfbatch_gui.core.jobs.plan.preflight import calibrated, without_queue

        found = self.drafts.examine(job_id)
        job, is_counted = self.ledger.job(job_id), self.address_book.is_counted_by_cloudflare
        past = self.ledger.jobs() if is_counted(job.connection) else ()
        counted = ((each, self.folder(each.id)) for each in past if is_counted(each.connection))
        found = calibrated(found, job, self.folder(job_id), self._metadata_for(job), counted)
        learned = self.connections.learned(job.connection, job.model)
        return without_queue(found, job, learned.at) if learned.queue is False else found

    def spent_today(self) -> "Spent":
        """What left for Cloudflare since midnight UTC; for a thread."""
        from cfbatch_gui.core.jobs.plan.spending import spent_today

        return spent_today(self.ledger.jobs(), self.folder, self._metadata_for, self.clock())

    async def send_again(self, job_id: str, *numbers: int, budget: Budget | None = None) -> Job:
        """Send batches once more, without `numbers` exactly what failed; it may be billed again.

        Raises OverBudget, with nothing changed, above the settings' budget or the one given; `Budget()` has no
        bound.
        """
        await asyncio.to_thread(self._check_budget, job_id, numbers, self.settings.budget if budget is None else budget)
        return await self.actions.send_again(job_id, *numbers)

    def _check_budget(self, job_id: str, numbers: Collection[int], budget: Budget) -> None:
        job = self.ledger.job(job_id)
        if job.connection == PRACTICE.id or budget in (Budget(), Budget(unit="neurons")):
            return
        from cfbatch_gui.core.jobs.plan.spending import check_again

        check_again(job, self.folder(job_id), self._metadata_for(job), numbers, budget=budget, spent=self.spent_today)

    def _metadata_for(self, job: Job) -> "ModelMetadata":
        metadata = self.connections.models(job.connection).find(job.model)
        with suppress(NotConnected):
            metadata = replace(metadata, body_bytes=self.address_book.connection(job.connection).body_bytes)
        return metadata
