"""The keyring of the system: what is known of it, whether it is locked, and the thread that talks to it."""

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from enum import StrEnum
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Final, TypeVar

from cfbatch_gui.core.errors import Action, KeyringUnavailable
from cfbatch_gui.core.messages import message


class KeyringState(StrEnum):
    """UNKNOWN before anything needed it."""

    UNKNOWN = "unknown"
    CHECKING = "checking"
    OPEN = "open"
    LOCKED = "locked"  # or its prompt is on the screen
    REFUSED = "refused"  # its prompt was dismissed; it is not shown again before `Credentials.unlock`
    SILENT = "silent"  # it does not answer, but may yet
    BROKEN = "broken"
    ABSENT = "absent"


SHUT = (KeyringState.LOCKED, KeyringState.REFUSED)
PASSING = (*SHUT, KeyringState.SILENT)
_SENTENCES = {
    KeyringState.LOCKED: message("Your keyring is locked. Unlock it; what waits for it goes on by itself."),
    KeyringState.REFUSED: message("Your keyring was not unlocked. Unlock it; what waits for it goes on by itself."),
    KeyringState.SILENT: message(
        "Your keyring does not answer. What waits for it goes on by itself as soon as it does."
    ),
    KeyringState.BROKEN: message(
        "Your keyring cannot be used. The token in it is not lost; enter it anew to go on without."
    ),
}


def sentence_of(state: KeyringState) -> str:
    """What whoever waits for it is told, "" when there is nothing to wait for."""
    return _SENTENCES.get(state, "")


def unavailable(state: KeyringState, detail: str) -> KeyringUnavailable:
    action = Action.UNLOCK if state in SHUT else Action.OPEN_CONNECTION
    return KeyringUnavailable(_SENTENCES.get(state, _SENTENCES[KeyringState.LOCKED]), detail=detail, action=action)


_OF_LINUX = "keyring.backends.SecretService"


class Lock(StrEnum):
    """What stands between the program and the keyring's content."""

    OPEN = "open"
    LOCKED = "locked"
    EMPTY = "empty"  # there is no keyring in it yet; reading as keyring does would make one, with a prompt


def lock_of(backend: object) -> Lock:
    """Ask without a prompt. Raises what the bus raises."""
    if type(backend).__module__ != _OF_LINUX:
        return Lock.OPEN
    import secretstorage

    with closing(secretstorage.dbus_init()) as bus:
        try:
            collection = secretstorage.Collection(bus)
        except secretstorage.ItemNotFoundException:
            return Lock.EMPTY
        return Lock.LOCKED if collection.is_locked() else Lock.OPEN


def unlock(backend: object) -> bool:
    """Have the system ask for the password; False when the prompt was dismissed."""
    if type(backend).__module__ != _OF_LINUX:
        return True
    import secretstorage

    with closing(secretstorage.dbus_init()) as bus:
        try:
            collection = secretstorage.Collection(bus)
        except secretstorage.ItemNotFoundException:
            return True
        if collection.is_locked():
            collection.unlock()
        return not collection.is_locked()


_PARTS: Final = {"win32": "Windows", "darwin": "macOS"}  # by sys.platform, under the names of keyring's entry points
_ELSEWHERE: Final = "SecretService"


def has_part_for(platform: str) -> bool:
    """Whether keyring's part for a `sys.platform` can be found; packed programs lose it easily."""
    name = _PARTS.get(platform, _ELSEWHERE)
    for entry_point in entry_points(group="keyring.backends", name=name):
        try:
            part = entry_point.load()
        except ImportError:
            return False
        # Two of them keep to themselves what they could not import.
        is_whole = not getattr(part, "missing_deps", None)
        return is_whole and (name != _ELSEWHERE or find_spec("secretstorage") is not None)
    return False


_T = TypeVar("_T")
_S = TypeVar("_S")


class KeyringThread:
    """A daemon thread: an unanswered prompt must not keep the program from ending."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, function: Callable[[], _T]) -> _T:
        """The function's result or exception. Cancelling the wait does not stop the call."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_T] = loop.create_future()

        def call() -> None:
            if not answer.cancelled():
                _hand_over(loop, answer, function)

        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="keyring", daemon=True)
            self._thread.start()
        self._calls.put(call)
        return await answer

    def _work(self) -> None:
        while True:
            self._calls.get()()


def _hand_over(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[_T], function: Callable[[], _T]) -> None:
    def settle(set_answer: Callable[[_S], None], value: _S) -> None:
        with suppress(RuntimeError):  # the loop was closed while the keyring was asked
            loop.call_soon_threadsafe(lambda: None if answer.done() else set_answer(value))

    try:
        found = function()
    except Exception as caught:  # noqa: BLE001 - it is raised again where it is awaited
        settle(answer.set_exception, caught)
    else:
        settle(answer.set_result, found)
