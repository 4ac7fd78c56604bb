"""The connections that are set up: as values, as clients with their own secrets, and as people see them."""

import hashlib
import itertools
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from cfbatch_gui.core.connections.credentials import CLOUDFLARE, TOKEN_VARIABLE, Credentials, KeyringState, TokenSource
from cfbatch_gui.core.errors import KeyringUnavailable, NotConnected, UsageError
from cfbatch_gui.core.messages import comma_list, message
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form, check_secret
from cfbatch_gui.core.workers_ai.connection_kinds import (
    CLOUDFLARE_BASE_URL,
    GATEWAY_BASE_URL,
    PRACTICE,
    Connection,
    ConnectionKind,
    check_base_url,
    connection_of,
    is_on_this_computer,
    title_of,
)
from cfbatch_gui.core.workers_ai.limits import RateBudget

if TYPE_CHECKING:  # imported with the first client: a window that only shows its jobs speaks to nobody
    from cfbatch_gui.core.workers_ai.client import WorkersAI
    from cfbatch_gui.core.workers_ai.transport import Application, Exchange


ACCOUNT_VARIABLE = "CLOUDFLARE_ACCOUNT_ID"
BASE_URL_VARIABLE = "CLOUDFLARE_API_BASE_URL"
PRACTICE_SECONDS_VARIABLE = "CFBATCH_PRACTICE_SECONDS"  # how long a practice batch is queued, and then runs
PRACTICE_TOKEN = Token("practice-needs-no-real-token-0000000000")
_FIRST = SavedConnection(CLOUDFLARE, "Cloudflare", "cloudflare")
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that looks like another


@dataclass(frozen=True, slots=True)
class ConnectionSummary:
    """A connection as people see it; `sentence` says where its token is, or what is missing.

    `waits_for_keyring`: the keyring has not said yet whether there is a token.
    """

    id: str
    title: str
    kind: ConnectionKind
    is_ready: bool
    sentence: str
    waits_for_keyring: bool = False

    @property
    def is_confirmed(self) -> bool:
        """Whether Cloudflare documents batches this way; it does not for a gateway."""
        return self.kind is not ConnectionKind.GATEWAY


class AddressBook:
    """`saved` gives what the settings hold at this moment; "cloudflare" is always there, set up or not.

    `practice_times` are the seconds that a practice batch is queued and running; CFBATCH_PRACTICE_SECONDS wins.
    """

    def __init__(
        self,
        saved: Callable[[], tuple[SavedConnection, ...]],
        paths: Paths,
        credentials: Credentials,
        *,
        environ: Mapping[str, str],
        practice_times: tuple[float, float],
        clock: Callable[[], float],
    ) -> None:
        self._saved, self._paths, self.credentials, self._environ = saved, paths, credentials, environ
        self._practice_times, self._clock = practice_times, clock
        self._clients: dict[Connection, WorkersAI] = {}
        self._budgets: dict[str, RateBudget] = {}

    def saved(self) -> tuple[SavedConnection, ...]:
        """All but the practice service; "cloudflare" first, with what the environment says of it."""
        others = tuple(each for each in self._saved() if each.id != CLOUDFLARE)
        ours = next((each for each in self._saved() if each.id == CLOUDFLARE), _FIRST)
        return (replace(ours, account_id=self._environ.get(ACCOUNT_VARIABLE, "") or ours.account_id), *others)

    def connection(self, connection_id: str) -> Connection:
        """A connection as it is set up now. Raises NotConnected, also for one that was deleted."""
        if connection_id == PRACTICE.id:
            return PRACTICE
        for each in self.saved():
            if each.id == connection_id:
                made = self._made(each)
                is_near = is_on_this_computer(made.base_url)  # which is asked as soon as the practice service
                return replace(made, first_check=PRACTICE.first_check) if is_near else made
        raise NotConnected(message("connection_job_was_deleted_results_can"))

    def is_counted_by_cloudflare(self, connection_id: str) -> bool:
        """Neither the practice service in the program nor one on this computer."""
        try:
            connection = self.connection(connection_id)
        except NotConnected:
            return False
        return not connection.is_practice and not is_on_this_computer(connection.base_url)

    def find(self, words: str) -> str:
        """The id of a connection by its id or its name. Raises UsageError."""
        titles = {PRACTICE.id: PRACTICE.title, **{each.id: each.name for each in self.saved()}}
        if words in titles:
            return words
        alike = [found for found, title in titles.items() if title.casefold() == words.strip().casefold()]
        if len(alike) != 1:
            known = [message("connection_id_title", id=found, title=title) for found, title in titles.items()]
            raise UsageError(message("there_is_no_connection_name_there", name=words, known=comma_list(known)))
        return alike[0]

    @property
    def account_id(self) -> str:
        """The account of "cloudflare": the environment's, else the one that was entered."""
        return self.saved()[0].account_id

    def title(self, connection_id: str) -> str:
        """What people call it; the id itself for one that was deleted."""
        return title_of(self._saved(), connection_id)

    def client(self, connection_id: str) -> "WorkersAI":
        """The client of a connection, kept while it stays as it is. Raises NotConnected."""
        connection = self.connection(connection_id)
        if connection not in self._clients:
            self._clients[connection] = self._new_client(connection)
        return self._clients[connection]

    def account_client(self, account_id: str, token: Token) -> "WorkersAI":
        """A client of an account's API with a token that is stored nowhere. Raises NotConnected."""

        async def given() -> Token:
            return token

        return self._new_client(self._made(replace(_FIRST, account_id=account_id)), given)

    def budget(self, connection_id: str) -> RateBudget:
        """How often it may be asked, shared by the connections of one account: Cloudflare counts them together."""
        try:
            return self._budget_of(self.connection(connection_id))
        except NotConnected:
            return RateBudget()

    def _budget_of(self, connection: Connection) -> RateBudget:
        return self._budgets.setdefault(connection.account_id or connection.base_url, RateBudget())

    async def summaries(self, look_at: str | None = None) -> tuple[ConnectionSummary, ...]:
        """All connections; the keyring is asked about `look_at` alone."""
        words = message("on_computer_nothing_leaves")
        practice = ConnectionSummary(PRACTICE.id, PRACTICE.title, PRACTICE.kind, True, words)
        saved = self.saved()
        return (practice, *[await self._summary(each, look=look_at in (None, each.id)) for each in saved])

    def checked(self, record: SavedConnection) -> SavedConnection:
        """A connection cleaned and with an id, as it can be saved. Raises NotConnected and UsageError."""
        name = record.name.strip()
        if not name:
            raise UsageError(message("connection_needs_name"))
        for each in (SavedConnection(PRACTICE.id, PRACTICE.title, "cloudflare"), *self.saved()):
            if each.id != record.id and name.casefold() in (each.id.casefold(), each.name.casefold()):
                raise UsageError(message("there_is_connection_name_already_choose", name=each.name))
        fresh = "".join(secrets.choice(_LETTERS) for _ in range(8))
        record = replace(record, id=record.id or fresh, name=name)
        made = self._made(record)
        url = made.base_url if record.url.strip() else ""
        return replace(record, account_id=made.account_id, gateway=made.gateway, url=url)

    def check_of(self, connection_id: str) -> Callable[[str], Token]:
        is_worker = any(each.id == connection_id and each.kind == "worker" for each in self.saved())
        return check_secret if is_worker else check_form

    def _made(self, record: SavedConnection) -> Connection:
        return connection_of(record, check_base_url(self._environ.get(BASE_URL_VARIABLE, "") or CLOUDFLARE_BASE_URL))

    def _practice_seconds(self) -> tuple[float, float]:
        text = self._environ.get(PRACTICE_SECONDS_VARIABLE, "")
        if not text:
            return self._practice_times
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
            raise UsageError(message("variable_must_be_number_seconds_such", variable=PRACTICE_SECONDS_VARIABLE))
        return float(text), float(text)

    def _new_client(
        self, connection: Connection, token: Callable[[], Awaitable[Token | None]] | None = None
    ) -> "WorkersAI":
        from cfbatch_gui.core.workers_ai.client import WorkersAI
        from cfbatch_gui.core.workers_ai.transport import Transport, note_exchange

        def note(exchange: "Exchange") -> None:
            note_exchange(self._paths.traffic, exchange, connection=connection.id, now=self._clock())

        return WorkersAI(
            connection,
            token or partial(self._token, connection),
            gateway_token=partial(self._gateway_token, connection),
            transport=Transport(application=self._practice() if connection.is_practice else None, on_exchange=note),
            budget=self._budget_of(connection),
            clock=self._clock,
        )

    def _practice(self) -> "Application":
        from cfbatch_gui.core.practice.app import practice_app

        queued, running = self._practice_seconds()
        return practice_app(self._paths.practice, seconds_queued=queued, seconds_running=running, clock=self._clock)

    async def _token(self, connection: Connection) -> Token | None:
        if connection.is_practice:
            return PRACTICE_TOKEN
        found = await self.credentials.token(connection.id, check=self.check_of(connection.id))
        if found is None and connection.kind is not ConnectionKind.WORKER:
            raise NotConnected(message("there_is_no_api_token_connection", connection=connection.title))
        return found

    async def _gateway_token(self, connection: Connection) -> Token | None:
        if connection.kind is not ConnectionKind.GATEWAY:
            return None
        return await self.credentials.token(gateway_secret_id(connection.id), check=check_secret)

    async def _summary(self, record: SavedConnection, *, look: bool) -> ConnectionSummary:
        summary = ConnectionSummary(record.id, record.name, ConnectionKind(record.kind), True, "")
        if record.kind == "cloudflare" and not record.account_id:
            return replace(summary, is_ready=False, sentence=message("not_connected_yet"))
        try:
            self._made(record)
        except NotConnected as error:
            return replace(summary, is_ready=False, sentence=error.message)
        if not look:
            return summary
        secret = await self.credentials.state_of(record.id, self.check_of(record.id))
        is_worker = record.kind == "worker"
        if secret.error is not None:  # sending asks a keyring to unlock
            waits = isinstance(secret.error, KeyringUnavailable)
            return replace(summary, is_ready=waits, sentence=secret.error.message, waits_for_keyring=waits)
        if secret.source is not None:
            name = message("secret") if is_worker else message("token")
            return replace(summary, sentence=_SENTENCES[secret.source].filled(secret=name))
        missing = message("no_secret_is_set") if is_worker else message("api_token_is_missing")
        if secret.keyring is KeyringState.ABSENT:
            missing = message("sentence_there_is_no_keyring_on", sentence=missing, variable=secret.variable)
        return replace(summary, is_ready=is_worker, sentence=missing)

    def held_by_environment(self) -> frozenset[str]:
        """The environment variables that win over the settings of "cloudflare"."""
        return frozenset(
            name for name in (ACCOUNT_VARIABLE, TOKEN_VARIABLE, BASE_URL_VARIABLE) if self._environ.get(name)
        )


def free_name(first: str, taken: Iterable[str]) -> str:
    """This name, or with the lowest number behind it that nobody has."""
    used = {each.casefold() for each in taken}
    numbered = (f"{first} {number}" for number in itertools.count(2))
    return next(name for name in itertools.chain([first], numbered) if name.casefold() not in used)


def gateway_secret_id(connection_id: str) -> str:
    """Under which name the keyring has a gateway's own token."""
    return f"{connection_id}/gateway"


_SENTENCES = {
    TokenSource.KEYRING: message("secret_is_computer_keyring"),
    TokenSource.SESSION: message("there_is_no_keyring_here_secret"),
    TokenSource.ENVIRONMENT: message("secret_comes_from_environment_variable"),
}


def service_mark_at(book: AddressBook, connection_id: str) -> str:
    """A short text, the same for connections with the same results: that of practice names its local model.

    "" for a connection that cannot be used.
    """
    from cfbatch_gui.core.practice.local_models import usual_model_name

    try:
        connection = book.connection(connection_id)
    except NotConnected:
        return ""
    if connection.kind is ConnectionKind.PRACTICE:
        return f"practice: {usual_model_name()}"
    if connection.kind is not ConnectionKind.WORKER and connection.base_url in (CLOUDFLARE_BASE_URL, GATEWAY_BASE_URL):
        return "cloudflare"
    return f"address: {hashlib.sha256(connection.base_url.encode()).hexdigest()[:16]}"
