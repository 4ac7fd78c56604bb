"""Connections as the user sets them up: saved with their secrets, tested, checked, removed; and the models of each."""

import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial

from cfbatch_gui.core.connections.address_book import AddressBook, gateway_secret_id
from cfbatch_gui.core.connections.credentials import CLOUDFLARE
from cfbatch_gui.core.errors import NotConnected, UserError
from cfbatch_gui.core.system.settings import Learned, SavedConnection, Settings
from cfbatch_gui.core.workers_ai.api_tokens import check_form, check_secret
from cfbatch_gui.core.workers_ai.catalogue import Price
from cfbatch_gui.core.workers_ai.checking import CheckResult, check_connection
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.model_listing import Catalogue, ModelLists
from cfbatch_gui.core.workers_ai.probe import WAIT_SECONDS, Outcome, Probe, ProbePlan, ProbeResult, plan_probe

_log = logging.getLogger(__name__)


def learn(result: ProbeResult, connection_id: str, known: Iterable[Learned]) -> tuple[Learned, ...]:
    """What is known with what a probe has shown; what was not seen this time stays."""
    findings = (each for each in result.findings if each.outcome is not Outcome.NOT_SEEN)
    seen = {each.assumption.id: each.outcome is Outcome.HELD for each in findings}
    key = (connection_id, result.plan.model.name, result.connection.account_mark)
    old = next((each for each in known if (each.connection, each.model, each.account_mark) == key), Learned())
    queue, references = seen.get("queue-taken", old.queue), seen.get("references", old.references)
    others = (each for each in known if (each.connection, each.model) != key[:2])
    return (*others, Learned(*key, queue, references, result.started))


class Connections:
    """`keep_accepted` has written an accepted batch of a probe down when it returns."""

    def __init__(
        self,
        address_book: AddressBook,
        model_lists: ModelLists,
        *,
        settings: Callable[[], Settings],
        keep_settings: Callable[..., Awaitable[Settings]],
        pause_jobs: Callable[[str], Awaitable[None]],
        keep_accepted: Callable[[str, str, str, str, str], Awaitable[None]],
    ) -> None:
        self.address_book, self._credentials, self._model_lists = address_book, address_book.credentials, model_lists
        self._settings, self._keep_settings, self._pause_jobs = settings, keep_settings, pause_jobs
        self._keep_accepted = keep_accepted

    async def save(self, record: SavedConnection, *, secret: str = "", gateway_secret: str = "") -> SavedConnection:
        """Add a connection (`record.id` is "") or change one, all of it or nothing. Raises NotConnected and UsageError.

        An empty secret keeps the one there is; a first account without one is refused.
        """
        record = self.address_book.checked(record)
        check = check_secret if record.kind == "worker" else check_form
        is_new = record.id == CLOUDFLARE and record.account_id != self.address_book.account_id
        is_missing = is_new and not secret.strip() and await self._credentials.token(CLOUDFLARE) is None
        token = check(secret) if secret.strip() or is_missing else None
        gateway_token = check_secret(gateway_secret) if gateway_secret.strip() else None
        if token is not None:
            await self._credentials.save(record.id, token)
        if gateway_token is not None:
            await self._credentials.save(gateway_secret_id(record.id), gateway_token)
        saved = {each.id: each for each in self._settings().connections}
        saved[record.id] = record  # one that is changed keeps its position
        await self._keep_settings(connections=tuple(saved.values()))
        return record

    async def remove(self, connection_id: str) -> None:
        """Forget a connection and its secrets; its unfinished jobs pause.

        Raises DataError when the keyring may still have a secret.
        """
        others = tuple(each for each in self._settings().connections if each.id != connection_id)
        chosen = PRACTICE.id if self._settings().connection == connection_id else self._settings().connection
        learned = tuple(each for each in self._settings().learned if each.connection != connection_id)
        await self._keep_settings(connections=others, connection=chosen, learned=learned)
        await self._pause_jobs(connection_id)
        await self._credentials.forget(connection_id)
        await self._credentials.forget(gateway_secret_id(connection_id))

    async def use_if_none(self, connection_id: str) -> None:
        """Have new jobs use a connection that passed its test, unless theirs leads somewhere."""
        if self._settings().connection in ("", PRACTICE.id):
            await self._keep_settings(connection=connection_id)

    async def forget_secret(self, secret_id: str) -> None:
        """Take a secret out of the keyring. Without that of the first account new jobs are practice."""
        await self._credentials.forget(secret_id)
        if secret_id == CLOUDFLARE:
            await self._keep_settings(connection=PRACTICE.id)

    async def check(self, connection_id: str, model: str) -> tuple[CheckResult, ...]:
        """Check a connection, free of charge."""
        return await check_connection(self.address_book.client(connection_id), model)

    def plan_probe(self, connection_id: str, model: str) -> ProbePlan:
        """What a probe sends, and its price, for the user to agree to. Raises OverBudget."""
        plan = plan_probe(self.models(connection_id).find(model), secrets.token_hex(4))
        return replace(plan, price=Price(0.0, 0.0, 0.0)) if connection_id == PRACTICE.id else plan

    async def probe(
        self,
        connection_id: str,
        plan: ProbePlan,
        *,
        show: Callable[[str], None] = lambda sentence: None,
        wait_seconds: float = WAIT_SECONDS,
    ) -> ProbeResult:
        """Probe a connection, to which the user has agreed, and keep what it shows. Raises as `Probe.run`."""
        client, model = self.address_book.client(connection_id), plan.model.name
        keep = partial(self._keep_accepted, connection_id, model)
        result = await Probe(client, plan, keep=keep, show=show, wait_seconds=wait_seconds).run()
        try:
            await self._keep_settings(learned=learn(result, connection_id, self._settings().learned))
        except UserError as error:  # the findings are worth more: they were paid for
            _log.warning("What a probe has shown could not be kept: %s", error.message)
        return result

    def learned(self, connection_id: str, model: str) -> Learned:
        """What probes have shown of a model in the account that the connection leads to now."""
        try:
            mark = self.address_book.connection(connection_id).account_mark
        except NotConnected:
            return Learned()
        key = (connection_id, model, mark)
        known = self._settings().learned
        return next((each for each in known if (each.connection, each.model, each.account_mark) == key), Learned())

    def models(self, connection_id: str) -> Catalogue:
        """The models as the connection listed them last, else the program's own list."""
        return self._model_lists.of(connection_id)

    async def refresh_models(self, connection_id: str) -> Catalogue:
        """Ask the service for its models and keep the list. Raises UserError; the list there was stays."""
        return await self._model_lists.refresh(connection_id, self.address_book.client(connection_id))
