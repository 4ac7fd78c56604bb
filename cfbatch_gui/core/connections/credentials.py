"""The API token: in the system's keyring, in the environment, or in memory while the program runs. Never in a file."""

import asyncio
import logging
import os
import re
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeVar

from cfbatch_gui.core.errors import Action, DataError, KeyringUnavailable, NotConnected
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system import processes
from cfbatch_gui.core.system.threads import DaemonExecutor
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend


class KeyringState(StrEnum):
    """UNKNOWN before anything needed it."""

    UNKNOWN = "unknown"
    OPEN = "open"
    LOCKED = "locked"  # or its prompt is on the screen
    REFUSED = "refused"  # its prompt was dismissed; it is not shown again before `Credentials.unlock`
    SILENT = "silent"  # it does not answer, but may yet
    BROKEN = "broken"
    ABSENT = "absent"


SHUT = (KeyringState.LOCKED, KeyringState.REFUSED)
PASSING = (*SHUT, KeyringState.SILENT)
_SENTENCES = {
    KeyringState.LOCKED: message("your_keyring_is_locked_unlock_what"),
    KeyringState.REFUSED: message("your_keyring_was_not_unlocked_unlock"),
    KeyringState.SILENT: message("your_keyring_does_not_answer_what"),
    KeyringState.BROKEN: message("your_keyring_cannot_be_used_token"),
}


_OF_LINUX = "keyring.backends.SecretService"


class Lock(StrEnum):
    """What stands between the program and the keyring's content."""

    OPEN = "open"
    LOCKED = "locked"
    EMPTY = "empty"  # there is no keyring in it yet; reading as keyring does would make one, with a prompt


def lock_of(backend: object, *, unlock: bool = False) -> Lock:
    """Ask without a prompt, or with `unlock` have the system ask for the password. Raises what the bus raises."""
    if type(backend).__module__ != _OF_LINUX:
        return Lock.OPEN
    import secretstorage

    with closing(secretstorage.dbus_init()) as bus:
        try:
            collection = secretstorage.Collection(bus)
        except secretstorage.ItemNotFoundException:
            return Lock.EMPTY
        if unlock and collection.is_locked():
            collection.unlock()
        return Lock.LOCKED if collection.is_locked() else Lock.OPEN


_PARTS: Final = {"win32": "Windows", "darwin": "macOS"}  # by sys.platform, under the names of keyring's entry points


def has_part_for(platform: str) -> bool:
    """Whether keyring's part for a `sys.platform` can be found; packed programs lose it easily."""
    name = _PARTS.get(platform, "SecretService")
    with suppress(ImportError):
        for entry_point in entry_points(group="keyring.backends", name=name):
            # Two of them keep to themselves what they could not import.
            is_whole = not getattr(entry_point.load(), "missing_deps", None)
            return is_whole and (name in _PARTS.values() or find_spec("secretstorage") is not None)
    return False


_T = TypeVar("_T")

SERVICE = "CF Batch"
CLOUDFLARE = "cloudflare"  # the connection that Cloudflare's own environment variables speak of
TOKEN_VARIABLE = processes.TOKEN

# A backend that is not one of these may be a plain file, or a test's: "stored" would be no promise.
_KNOWN_BACKENDS = frozenset(
    f"keyring.backends.{name}" for name in ("SecretService", "libsecret", "kwallet", "macOS", "Windows")
)
_log = logging.getLogger(__name__)
_BY_ERROR = {  # what keyring raises without a keyring, and with secretstorage when the user has dismissed a prompt
    "NoKeyringError": KeyringState.ABSENT,
    "KeyringLocked": KeyringState.REFUSED,
    "LockedException": KeyringState.REFUSED,
    "PromptDismissedException": KeyringState.REFUSED,
    "InitError": KeyringState.REFUSED,
}


class TokenSource(StrEnum):
    """Where a token is."""

    KEYRING = "keyring"
    SESSION = "session"  # in memory; gone when the program ends
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class SecretState:
    """What is known about a secret, never the secret itself. `source` is None while there is none that can be used.

    `error` says why not: a KeyringUnavailable while the keyring has not said whether there is one. `is_fixed`: the
    environment variable `variable` sets it.
    """

    source: TokenSource | None = None
    error: NotConnected | None = None
    keyring: KeyringState = KeyringState.UNKNOWN
    is_fixed: bool = False
    variable: str = TOKEN_VARIABLE


def variable_of(connection_id: str) -> str:
    """The environment variable of a connection's secret, for computers without a keyring."""
    if connection_id == CLOUDFLARE:
        return TOKEN_VARIABLE
    return f"{processes.OF_A_CONNECTION}{re.sub('[^A-Z0-9]', '_', connection_id.upper())}"


class Credentials:
    """Tokens by connection, read once each, in a thread of their own.

    What the environment says wins, and is never stored. Who waits longer than `time_limit` seconds, or for a prompt
    that others asked for, is told what the keyring waits for; `changed` is called as soon as that is no longer so.
    No prompt follows one that was dismissed.
    """

    def __init__(
        self, backend: "KeyringBackend | None" = None, environ: Mapping[str, str] = os.environ, time_limit: float = 10.0
    ) -> None:
        self._given, self._environ, self._time_limit = backend, environ, time_limit
        # An unanswered prompt must not keep the program from ending; cancelling a wait for it does not stop it.
        self._thread = DaemonExecutor(1, "keyring")
        self._session: dict[str, Token] = {}
        self._from_keyring: dict[str, Token] = {}  # in whatever form it has them
        self._reads: dict[str, asyncio.Task[KeyringState]] = {}
        self._prompt: asyncio.Task[None] | None = None
        self._told: KeyringState | None = None  # why somebody got no answer, since `changed` was called
        self.state = KeyringState.UNKNOWN
        self.changed: Callable[[], None] = lambda: None

    def has_moved_on(self, error: KeyringUnavailable) -> bool:
        """Whether the keyring has answered, or been refused, since it was unavailable in this way."""
        return error.message != _SENTENCES.get(self.state, "")

    async def token(
        self, connection_id: str, *, check: Callable[[str], Token] = check_form, may_prompt: bool = True
    ) -> Token | None:
        """None when there is none.

        Raises NotConnected for what is no token, KeyringUnavailable when the keyring has not said. Without
        `may_prompt` a locked keyring is not asked.
        """
        if found := self._from_environment(connection_id, check) or self._session.get(connection_id):
            return found
        if connection_id not in self._from_keyring:
            await self._fetch(connection_id, may_prompt=may_prompt)
        stored = self._from_keyring.get(connection_id)
        return check(stored.reveal()) if stored is not None else None

    async def unlock(self) -> None:
        """Have the system ask for the keyring's password; `changed` is called with the answer."""
        await asyncio.shield(self._prompting())

    def _prompting(self) -> "asyncio.Task[None]":
        if self._prompt is None or self._prompt.done():
            self._prompt = asyncio.ensure_future(self._unlock())
        return self._prompt

    async def _unlock(self) -> None:
        def ask() -> bool:
            backend = self._backend()
            return backend is None or lock_of(backend, unlock=True) is not Lock.LOCKED

        self.state = KeyringState.LOCKED
        self.state = KeyringState.OPEN if await self._answer(ask) else KeyringState.REFUSED
        self._tell()

    async def look_again(self) -> None:
        """Notice, without a prompt, that the keyring was unlocked elsewhere; then `changed` is called."""
        if self.state not in SHUT:
            return
        if await self._answer(self._lock) in (Lock.OPEN, Lock.EMPTY) and self.state in SHUT:
            self.state = KeyringState.OPEN
            self._tell()

    async def lock(self) -> Lock | None:
        """What stands before the keyring, asked without a prompt or a limit of time; None without a keyring."""
        return await asyncio.wrap_future(self._thread.submit(self._lock))

    def _lock(self) -> Lock | None:
        return lock_of(backend) if (backend := self._backend()) else None

    async def save(self, connection_id: str, token: Token) -> TokenSource:
        """Keep the token; whether it will be there after the next start.

        SESSION when the keyring has not answered in time; `changed` is called if it takes the token later.
        """

        def write() -> bool:
            if (backend := self._backend()) is None:
                return False
            # macOS asks the user again after each rewrite: only what changed is written.
            if backend.get_password(SERVICE, connection_id) != token.reveal():
                backend.set_password(SERVICE, connection_id, token.reveal())
            return backend.get_password(SERVICE, connection_id) == token.reveal()

        async def keep() -> None:
            if await self._answer(write) and self._session.get(connection_id) is token:  # not removed or replaced since
                del self._session[connection_id]
                self._from_keyring[connection_id] = token

        self._forget_read(connection_id)
        self._session[connection_id] = token
        await self._in_time(asyncio.ensure_future(keep()))
        return TokenSource.SESSION if connection_id in self._session else TokenSource.KEYRING

    async def forget(self, connection_id: str) -> None:
        """Remove the token. Raises DataError when the keyring may still have it."""

        def remove() -> bool:
            backend = self._backend()
            if backend is None or lock_of(backend) is Lock.EMPTY:
                return True
            if backend.get_password(SERVICE, connection_id) is not None:
                backend.delete_password(SERVICE, connection_id)
            return backend.get_password(SERVICE, connection_id) is None

        self._session.pop(connection_id, None)
        self._forget_read(connection_id)
        removing = asyncio.ensure_future(self._answer(remove))
        if not await self._in_time(removing) or not removing.result():
            removing.cancel()
            raise DataError(message("system_keyring_did_not_remove_token", service=SERVICE))

    async def token_source(
        self, connection_id: str, *, check: Callable[[str], Token] = check_form
    ) -> TokenSource | None:
        """None when there is none. Never prompts. Raises as `token`."""
        if await self.token(connection_id, check=check, may_prompt=False) is None:
            return None
        if self._from_environment(connection_id, check):
            return TokenSource.ENVIRONMENT
        return TokenSource.SESSION if connection_id in self._session else TokenSource.KEYRING

    async def state_of(self, connection_id: str, check: Callable[[str], Token]) -> SecretState:
        source, error, variable = None, None, variable_of(connection_id)
        try:
            source = await self.token_source(connection_id, check=check)
        except NotConnected as caught:
            error = caught
        return SecretState(source, error, self.state, bool(self._environ.get(variable)), variable)

    def _from_environment(self, connection_id: str, check: Callable[[str], Token]) -> Token | None:
        variable = variable_of(connection_id)
        text = self._environ.get(variable, "")
        if not text:
            return None
        try:
            return check(text)
        except NotConnected as error:
            raise NotConnected(
                message("sentence_stands_environment_variable_variable", sentence=error.message, variable=variable)
            ) from error

    async def _fetch(self, connection_id: str, *, may_prompt: bool) -> None:
        is_prompting = self._prompt is not None and not self._prompt.done()
        if self.state is KeyringState.REFUSED or (is_prompting and not may_prompt):
            raise self._unavailable()
        state = await self._read_in_time(connection_id)
        if state is KeyringState.LOCKED and may_prompt:
            if not await self._in_time(self._prompting()):
                raise self._unavailable()
            state = await self._read_in_time(connection_id)
        if state in _SENTENCES:
            raise self._unavailable()

    async def _read_in_time(self, connection_id: str) -> KeyringState:
        """Read it, or wait for whoever reads it already."""
        if connection_id not in self._reads:
            self._reads[connection_id] = asyncio.ensure_future(self._read(connection_id))
        reading = self._reads[connection_id]
        if not await self._in_time(reading):
            raise self._unavailable()
        return reading.result()

    async def _read(self, connection_id: str) -> KeyringState:
        """Read it without a prompt, and learn how the keyring is."""

        def look() -> tuple[KeyringState, str | None]:
            lock, backend = self._lock(), self._backend()
            if lock is None or backend is None:
                return KeyringState.ABSENT, None
            if lock is Lock.LOCKED:  # and stays refused if it was while this one waited for the thread
                return KeyringState.REFUSED if self.state is KeyringState.REFUSED else KeyringState.LOCKED, None
            return KeyringState.OPEN, backend.get_password(SERVICE, connection_id) if lock is Lock.OPEN else None

        stored = None
        try:
            self.state, stored = await asyncio.wrap_future(self._thread.submit(look))
        except Exception as error:  # noqa: BLE001 - backends raise whatever their system raises
            kind = type(error).__name__
            _log.warning("The system's keyring cannot be used: %s", kind)
            self.state = _BY_ERROR.get(kind, KeyringState.BROKEN)
        if self._reads.get(connection_id) is asyncio.current_task():  # not removed or replaced meanwhile
            del self._reads[connection_id]
            if stored:
                self._from_keyring[connection_id] = Token(stored)
        if self._told not in (None, self.state):
            self._tell()
        return self.state

    async def _answer(self, question: Callable[[], _T]) -> _T | None:
        """The answer of the keyring's thread, None for whatever its system has raised."""
        answer = None
        try:
            answer = await asyncio.wrap_future(self._thread.submit(question))
        except Exception as error:  # noqa: BLE001 - backends raise whatever their system raises
            _log.warning("The system's keyring cannot be used: %s", type(error).__name__)
        if self.state is KeyringState.SILENT:
            self.state = KeyringState.UNKNOWN
            self._tell()
        return answer

    async def _in_time(self, asking: "asyncio.Task[Any]") -> bool:
        """Whether it has ended in time; while the keyring is silent this takes none."""
        if self.state is not KeyringState.SILENT:
            await asyncio.wait((asking,), timeout=self._time_limit)
        if not asking.done() and (self._prompt is None or self._prompt.done()):
            _log.warning("The system's keyring did not answer in time.")
            self.state = KeyringState.SILENT
        return asking.done()

    def _tell(self) -> None:
        self._told = None
        self.changed()

    def _forget_read(self, connection_id: str) -> None:
        self._from_keyring.pop(connection_id, None)
        self._reads.pop(connection_id, None)

    def _unavailable(self) -> KeyringUnavailable:
        if self.state in PASSING:
            self._told = self.state
        action = Action.UNLOCK if self.state in SHUT else Action.OPEN_CONNECTION
        return KeyringUnavailable(_SENTENCES.get(self.state, _SENTENCES[KeyringState.LOCKED]), action=action)

    def _backend(self) -> "KeyringBackend | None":
        return self._given or _system_keyring()


def _system_keyring() -> "KeyringBackend | None":
    import keyring

    try:
        chosen = keyring.get_keyring()
    except Exception as error:  # noqa: BLE001 - whatever loading what the environment or a file names raises
        _log.warning("There is no keyring of the name that is set: %s", type(error).__name__)
        return None
    candidates = [chosen, *getattr(chosen, "backends", ())]  # several of them come in a chain
    found = next((backend for backend in candidates if type(backend).__module__ in _KNOWN_BACKENDS), None)
    if found is not None and hasattr(type(found), "persist"):  # Windows would take it along to the domain's computers
        found.persist = "local machine"
    return found
