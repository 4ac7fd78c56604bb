"""The whole program without a face: stores, connections and the runner, put together once for each start."""

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from collections.abc import Mapping as Environment
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cfbatch_gui import __version__
from cfbatch_gui.core.connections.address_book import (
    ACCOUNT_VARIABLE,
    BASE_URL_VARIABLE,
    AddressBook,
    ConnectionFacts,
    gateway_secret_id,
)
from cfbatch_gui.core.connections.credentials import CLOUDFLARE, Credentials, Place
from cfbatch_gui.core.errors import DataError, NotConnected, OverBudget, UserError
from cfbatch_gui.core.inputs.columns.recipes import RecipeBook
from cfbatch_gui.core.inputs.input_values import Kind, Mapping, Source
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.plan.calibration import Calibration, calibrated
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.plan.spending import Spent, over_budget, price_again, spent_today
from cfbatch_gui.core.jobs.run.attaching import name_texts, read_pasted_job
from cfbatch_gui.core.jobs.run.job_actions import JobActions
from cfbatch_gui.core.jobs.run.runner import Runner
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.recovery import open_or_recover
from cfbatch_gui.core.results.job_metadata import JobMetadata
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Budget, SavedConnection, Settings
from cfbatch_gui.core.system.unfinished import end_list, keep_list
from cfbatch_gui.core.workers_ai.api_tokens import check_form, check_secret
from cfbatch_gui.core.workers_ai.budget import RateBudget
from cfbatch_gui.core.workers_ai.catalogue import ModelFacts
from cfbatch_gui.core.workers_ai.checking import CheckResult, check_connection
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, Connection, clean_account_id, is_on_this_computer
from cfbatch_gui.core.workers_ai.model_listing import Catalogue, ModelLists
from cfbatch_gui.core.workers_ai.traffic import HostTraffic, TrafficLog, traffic

__all__ = ["ACCOUNT_VARIABLE", "BASE_URL_VARIABLE", "AttachedInput", "ConnectionFacts", "Program", "metadata_of"]

_log = logging.getLogger(__name__)

DELETED = "The connection of this job was deleted. What is at the service stays there."


@dataclass(frozen=True, slots=True)
class AttachedInput:
    """The file of a job that was made elsewhere, and what its columns are for."""

    source: Source
    mapping: Mapping
    second: Source | None = None


class Program:
    """Made by `open`, ended by `close`; everything in between belongs to the loop that opened it."""

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
        self.settings = Settings.load(paths.settings)
        self._clock, self._will_save = clock, False
        self.model_lists = ModelLists(paths.catalogue, clock=clock)
        self.recipes = RecipeBook(paths.recipes)
        self.calibration = Calibration(paths.calibration, self._is_counted_by_cloudflare)
        self.drafts = Drafts(ledger, paths, clock=clock, facts_for=self._facts_for)
        self.recovered: tuple[Job, ...] = ()  # put together again at this start, because the ledger was lost
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self.address_book = AddressBook(
            lambda: self.settings.connections,
            paths,
            credentials,
            environ=environ,
            practice_times=practice_times,
            traffic=TrafficLog(paths.traffic),
            clock=clock,
        )
        self.store = JobStore(ledger, paths, self.client, disk=self._disk, on_change=on_change, clock=clock)
        self.runner = Runner(self.store, clock=clock, patience=patience)
        self.actions = JobActions(self.store, self.runner, clock=clock, facts_for=self._facts_for)

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
        """Open the data folder as its one writer. `practice_times`: seconds a practice batch is queued and running.

        Raises DataError.
        """
        paths = Paths(root)
        await asyncio.to_thread(paths.create)
        ledger, recovered = await asyncio.to_thread(lambda: open_or_recover(paths, clock=clock))
        await asyncio.to_thread(keep_list, paths.unfinished)
        program = cls(
            paths,
            ledger,
            environ=environ,
            credentials=credentials or Credentials(environ=environ),
            on_change=on_change,
            practice_times=practice_times,
            patience=patience,
            clock=clock,
        )
        program.recovered = recovered
        await asyncio.to_thread(program.drafts.clear_deleted)
        return program

    async def close(self) -> None:
        """Stop work and let another process in. What is at the service goes on there."""
        await self.runner.close()
        await self.address_book.close()
        await asyncio.to_thread(self._disk.shutdown)
        end_list(self.paths.unfinished)
        self.ledger.close()

    async def keep_settings(self, **changes: object) -> Settings:
        """Change the settings at once, and return when they are saved. Raises DiskFull and ExportError.

        They are saved also when whoever waits here is cancelled, as a page is that closes.
        """
        self._change_settings(changes)
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._disk, self._save_settings))
        return self.settings

    def change_settings(self, **changes: object) -> None:
        """`keep_settings` for who cannot wait: saved soon, before `close` returns; a full disk is only logged."""
        self._change_settings(changes)
        if not self._will_save:
            self._will_save = True
            with suppress(RuntimeError):  # after `close` there is nothing to save for
                self._disk.submit(self._save_changed)

    def _change_settings(self, changes: dict[str, object]) -> None:
        self.settings = replace(self.settings, **changes)  # type: ignore[arg-type]  # names are checked by replace

    def _save_settings(self) -> None:
        self.settings.save(self.paths.settings)  # as they are by now: an older change never overtakes a newer one

    def _save_changed(self) -> None:
        self._will_save = False  # first: what changes from now on may be too late for this time
        try:
            self._save_settings()
        except UserError as error:
            _log.warning("The settings were not saved: %s", error.message)

    def folder(self, job_id: str) -> JobFolder:
        """The folder of a job."""
        return self.drafts.folder(job_id)

    # Connections

    def connection(self, connection_id: str) -> Connection:
        """A connection as it is set up now. Raises NotConnected."""
        return self.address_book.connection(connection_id)

    @property
    def account_id(self) -> str:
        """The account of the connection "cloudflare": the environment's, else the one that was entered."""
        return self.address_book.saved()[0].account_id

    @property
    def budget(self) -> RateBudget:
        """How often the connection that new jobs start with may still be asked."""
        return self.address_book.budget(self.settings.connection or CLOUDFLARE)

    def held_by_environment(self) -> frozenset[str]:
        """The environment variables that say something about the connection "cloudflare", and so win over settings."""
        return self.address_book.held_by_environment()

    def client(self, connection_id: str) -> WorkersAI:
        """The client of a connection, kept while the connection stays as it is."""
        return self.address_book.client(connection_id)

    async def connections(self) -> tuple[ConnectionFacts, ...]:
        """All connections, whether they can be used or not."""
        return await self.address_book.facts()

    async def save_connection(
        self, record: SavedConnection, *, secret: str = "", gateway_secret: str = ""
    ) -> SavedConnection:
        """Add a connection (`record.id` is "") or change one; as it was saved. An empty secret keeps the one there is.

        Nothing is kept unless all of it can be. Raises NotConnected and UsageError.
        """
        record = self.address_book.checked(record)
        check = check_secret if record.kind == "worker" else check_form
        token = check(secret) if secret.strip() else None
        gateway_token = check_secret(gateway_secret) if gateway_secret.strip() else None
        if token is not None:
            await self.credentials.save(record.id, token)
        if gateway_token is not None:
            await self.credentials.save(gateway_secret_id(record.id), gateway_token)
        saved = {each.id: each for each in self.settings.connections}
        saved[record.id] = record  # one that is changed keeps its place
        await self.keep_settings(connections=tuple(saved.values()))
        return record

    async def remove_connection(self, connection_id: str) -> None:
        """Forget a connection and its secrets. Its jobs stay; those that are not finished pause and say why.

        Raises DataError when the keyring may still have a secret.
        """
        others = tuple(each for each in self.settings.connections if each.id != connection_id)
        chosen = PRACTICE.id if self.settings.connection == connection_id else self.settings.connection
        await self.keep_settings(connections=others, connection=chosen)
        for job in self.ledger.jobs():
            if job.connection == connection_id and job.is_sent:
                await self.runner.pause(job.id, because=DELETED)
        await self.credentials.forget(connection_id)
        await self.credentials.forget(gateway_secret_id(connection_id))

    async def save_cloudflare(self, account_id: str, token_text: str) -> Place:
        """Connect the account; an empty token keeps the one that is there. Says where the token is now.

        Raises NotConnected when the one or the other has not the form it should have.
        """
        account = clean_account_id(account_id)
        if not token_text.strip() and await self.credentials.token(CLOUDFLARE) is None:
            check_form(token_text)
        before = next((each for each in self.settings.connections if each.id == CLOUDFLARE), None)
        before = before or SavedConnection(CLOUDFLARE, "Cloudflare", "cloudflare")
        await self.save_connection(replace(before, account_id=account), secret=token_text)
        await self.keep_settings(connection=CLOUDFLARE)
        return await self.credentials.place(CLOUDFLARE) or Place.SESSION

    async def forget_cloudflare(self) -> None:
        """Take the token out of the keyring; the account id stays, as it is no secret."""
        await self.credentials.forget(CLOUDFLARE)
        await self.keep_settings(connection=PRACTICE.id)

    async def check_connection(self, connection_id: str, model: str) -> tuple[CheckResult, ...]:
        """Check a connection, free of charge; one result for each question, in their order."""
        return await check_connection(self.client(connection_id), model)

    # Jobs made elsewhere

    async def attach(
        self,
        connection_id: str,
        pasted: str,
        *,
        model: str = "",
        name: str = "",
        inputs: AttachedInput | None = None,
    ) -> Job:
        """Add a job by its request id, or by the whole answer that it was given; watched from now on.

        `model` counts where the answer names none; then the one of the settings. With `inputs` its rows are matched by
        the ids of the answer, without them texts get names. Raises UserError; no job is left then.
        """
        found = read_pasted_job(pasted)
        model = found.model or model or self.settings.model
        kind = inputs.mapping.kind if inputs else Kind.RANK
        source_name = inputs.source.path.stem if inputs else ""
        name = name or source_name or f"Job {found.request_id[:8]}"
        job = await self.store.on_disk(self.drafts.create, kind, name, model, connection_id)
        try:
            if inputs is not None:
                await asyncio.to_thread(self.drafts.load, job.id, inputs.source, inputs.mapping, inputs.second)
            else:
                await asyncio.to_thread(name_texts, self.folder(job.id))
            return await self.actions.attach(job.id, found.request_id)
        except BaseException:
            if not self.ledger.job(job.id).is_sent:
                await self.store.on_disk(self.drafts.delete, job.id)
            raise

    def models(self, connection_id: str) -> Catalogue:
        """The models as the connection listed them last, else as the program's own list has them."""
        return self.model_lists.of(connection_id)

    async def refresh_models(self, connection_id: str) -> Catalogue:
        """Ask the service for its models and keep the list. Raises UserError; the list there was stays."""
        return await self.model_lists.refresh(connection_id, self.client(connection_id))

    # What a draft comes to

    def examine(self, job_id: str) -> Preflight:
        """`Drafts.examine`, put right by what finished jobs took; for a thread. Raises UserError."""
        found = self.drafts.examine(job_id)
        job = self.ledger.job(job_id)
        with suppress(DataError):  # a full disk: what was learned is learned again
            self.calibration.learn(self.ledger.jobs(), self.folder, self._facts_for)
        return calibrated(found, job, self.folder(job_id), self._facts_for(job), self.calibration)

    def spent_today(self) -> Spent:
        """What left for Cloudflare since midnight UTC; for a thread, as it may read the folders of jobs at work."""
        return spent_today(self.ledger.jobs(), self.folder, self._facts_for, self._clock())

    async def send_again(self, job_id: str, *numbers: int, budget: Budget | None = None) -> Job:
        """Send batches of a job once more, or without `numbers` exactly what failed; it may be billed again.

        Raises OverBudget, with nothing changed, when that may cost more than the budget of the settings, or the one
        given: `Budget()`, which has no bound, is the user's word. Else as `JobActions.send_again`.
        """
        await asyncio.to_thread(self._check_budget, job_id, numbers, self.settings.budget if budget is None else budget)
        if not numbers:
            return await self.actions.send_failed_again(job_id)
        for number in numbers:
            await self.actions.send_again(job_id, number)
        return self.ledger.job(job_id)

    def _check_budget(self, job_id: str, numbers: Collection[int], budget: Budget) -> None:
        job = self.ledger.job(job_id)
        if job.connection == PRACTICE.id or budget in (Budget(), Budget(unit="neurons")):
            return
        again, before = price_again(job, self.folder(job_id), self._facts_for(job), numbers)
        sentence = over_budget(again, budget, self.spent_today(), before) if again.neurons else ""
        if sentence:
            raise OverBudget(sentence)

    def _is_counted_by_cloudflare(self, job: Job) -> bool:
        """Neither the practice service within the program nor one that stands on this computer for other programs."""
        try:
            connection = self.connection(job.connection)
        except NotConnected:
            return False
        return not connection.is_practice and not is_on_this_computer(connection.base_url)

    def _facts_for(self, job: Job) -> ModelFacts:
        facts = self.models(job.connection).find(job.model)
        with suppress(NotConnected):
            facts = replace(facts, body_bytes=self.connection(job.connection).body_bytes)
        return facts

    def traffic(self) -> tuple[HostTraffic, ...]:
        """What has left this computer, for each host, connection and kind of exchange; the last one first."""
        return traffic(self.paths.traffic)


_WITHOUT_ANSWER = (BatchState.FAILED, BatchState.GONE, BatchState.DISMISSED)


def metadata_of(job: Job, connection_title: str) -> JobMetadata:
    """What an export says about its job."""
    return JobMetadata(
        id=job.id,
        name=job.name,
        kind=job.kind,
        model=job.model,
        connection=connection_title,
        truncate_inputs=job.options.truncate_inputs,
        pooling=job.options.pooling,
        request_ids={batch.number: batch.request_id for batch in job.batches},
        failed_batches={batch.number: batch.error for batch in job.batches if batch.state in _WITHOUT_ANSWER},
        source_name=job.source_name,
        source_sha256=job.source_sha256,
        rows_in=job.rows_in,
        usage_tokens=job.tokens,
        sent_at=job.sent_at,
        program_version=__version__,
    )
