"""The API token: in the system's keyring, in the environment, or in memory while the program runs. Never in a file."""

import asyncio
import logging
import os
import queue
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from cfbatch_gui.core.errors import DataError, NotConnected
from cfbatch_gui.core.system import secret_variables
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE = "CF Batch"
CLOUDFLARE = "cloudflare"  # the connection that Cloudflare's own environment variables speak of
TOKEN_VARIABLE = secret_variables.TOKEN

# A backend that is not one of these may be a plain file, or a test's: "stored" would be no promise.
_KNOWN_BACKENDS = frozenset(
    f"keyring.backends.{name}" for name in ("SecretService", "libsecret", "kwallet", "macOS", "Windows")
)


_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_S = TypeVar("_S")


class TokenSource(StrEnum):
    """Where a token is."""

    KEYRING = "keyring"
    SESSION = "session"  # in memory; gone when the program ends
    ENVIRONMENT = "environment"


def variable_of(connection_id: str) -> str:
    """The environment variable that a connection's secret is taken from where there is one; for computers without a
    keyring."""
    if connection_id == CLOUDFLARE:
        return TOKEN_VARIABLE
    return f"{secret_variables.OF_A_CONNECTION}{re.sub('[^A-Z0-9]', '_', connection_id.upper())}"


class Credentials:
    """Tokens by connection. Every call to the keyring runs in a thread of its own, with a time limit in seconds.

    `backend` stands in for the one that keyring would choose. What the environment says wins, and is never stored.
    """

    def __init__(
        self,
        backend: "KeyringBackend | None" = None,
        environ: Mapping[str, str] = os.environ,
        time_limit: float = 10.0,
    ) -> None:
        self._given = backend
        self._environ = environ
        self._thread = _KeyringThread(time_limit)
        self._session: dict[str, Token] = {}
        self._from_keyring: dict[str, Token] = {}

    async def token(self, connection_id: str, *, check: Callable[[str], Token] = check_form) -> Token | None:
        """The token, None when there is none. Raises NotConnected when what is stored there is no token."""
        found = self._from_environment(connection_id, check) or self._session.get(connection_id)
        if found or connection_id in self._from_keyring:
            return found or self._from_keyring[connection_id]
        stored = await self._ask(lambda backend: backend.get_password(SERVICE, connection_id), None, failed=None)
        if not stored:
            return None
        self._from_keyring[connection_id] = token = check(stored)
        return token

    async def save(self, connection_id: str, token: Token) -> TokenSource:
        """Keep the token; the answer says whether it will be there after the next start."""

        def write(backend: "KeyringBackend") -> bool:
            # macOS asks the user again after each rewrite: only what changed is written.
            if backend.get_password(SERVICE, connection_id) != token.reveal():
                backend.set_password(SERVICE, connection_id, token.reveal())
            return backend.get_password(SERVICE, connection_id) == token.reveal()

        self._from_keyring.pop(connection_id, None)
        self._session[connection_id] = token
        if not await self._ask(write, False, failed=False):
            return TokenSource.SESSION
        del self._session[connection_id]
        self._from_keyring[connection_id] = token
        return TokenSource.KEYRING

    async def forget(self, connection_id: str) -> None:
        """Remove the token. Raises DataError when the keyring may still have it."""

        def remove(backend: "KeyringBackend") -> bool:
            if backend.get_password(SERVICE, connection_id) is not None:
                backend.delete_password(SERVICE, connection_id)
            return backend.get_password(SERVICE, connection_id) is None

        self._session.pop(connection_id, None)
        self._from_keyring.pop(connection_id, None)
        if not await self._ask(remove, True, failed=False):
            raise DataError(
                f"The system's keyring did not remove the token. Look for “{SERVICE}” in your keyring, or revoke the"
                " token in the Cloudflare dashboard."
            )

    async def token_source(
        self, connection_id: str, *, check: Callable[[str], Token] = check_form
    ) -> TokenSource | None:
        """Where the token is, None when there is none."""
        if await self.token(connection_id, check=check) is None:
            return None
        if self._from_environment(connection_id, check):
            return TokenSource.ENVIRONMENT
        return TokenSource.SESSION if connection_id in self._session else TokenSource.KEYRING

    def _from_environment(self, connection_id: str, check: Callable[[str], Token]) -> Token | None:
        variable = variable_of(connection_id)
        text = self._environ.get(variable, "")
        if not text:
            return None
        try:
            return check(text)
        except NotConnected as error:
            raise NotConnected(f"{error.message} (It stands in the environment variable {variable}.)") from error

    async def _ask(self, question: "Callable[[KeyringBackend], _T]", without: _T, *, failed: _T) -> _T:
        """The keyring's answer; `without` when there is no keyring, `failed` when there is one that does not answer."""

        def ask() -> _T:
            backend = self._given or _system_keyring()
            return without if backend is None else question(backend)

        try:
            return await self._thread.run(ask)
        except TimeoutError:
            _log.warning("The system's keyring did not answer in time.")
        except Exception as error:  # noqa: BLE001 - backends raise whatever their system raises
            _log.warning("The system's keyring cannot be used: %s", type(error).__name__)
        return failed


def _system_keyring() -> "KeyringBackend | None":
    """The platform's own keyring, None where there is none (headless Linux, a container)."""
    import keyring

    chosen = keyring.get_keyring()
    candidates = [chosen, *getattr(chosen, "backends", ())]  # several of them come in a chain
    found = next((backend for backend in candidates if type(backend).__module__ in _KNOWN_BACKENDS), None)
    if found is not None and hasattr(type(found), "persist"):  # Windows would take it along to the domain's computers
        found.persist = "local machine"
    return found


class _KeyringThread:
    """One call at a time, in a daemon thread: an unanswered prompt must not keep the program from ending."""

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._overdue: threading.Event | None = None  # set once the call that missed its limit has ended

    async def run(self, function: Callable[[], _T]) -> _T:
        """Raises TimeoutError, at once while an earlier call still hangs; else what the function raises."""
        if self._overdue is not None and not self._overdue.is_set():
            raise TimeoutError
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_T] = loop.create_future()
        ended = threading.Event()

        def call() -> None:
            try:
                if not answer.cancelled():
                    _hand_over(loop, answer, function)
            finally:
                ended.set()

        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="keyring", daemon=True)
            self._thread.start()
        self._calls.put(call)
        await asyncio.wait((answer,), timeout=self._time_limit)
        if not answer.done():
            answer.cancel()
            self._overdue = ended
            raise TimeoutError
        return answer.result()

    def _work(self) -> None:
        while True:
            self._calls.get()()


def _hand_over(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[_T], function: Callable[[], _T]) -> None:
    """Call the function here, and set its result or exception on `answer` in the loop, unless that is closed."""

    def settle(set_answer: Callable[[_S], None], value: _S) -> None:
        with suppress(RuntimeError):  # the loop was closed while the keyring was asked
            loop.call_soon_threadsafe(lambda: None if answer.done() else set_answer(value))

    try:
        found = function()
    except Exception as caught:  # noqa: BLE001 - it is raised again where it is awaited
        settle(answer.set_exception, caught)
    else:
        settle(answer.set_result, found)
