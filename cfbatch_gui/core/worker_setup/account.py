"""The calls of an account's API that set the Worker up and take it away, each made until it succeeds or is refused."""

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Final, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from cfbatch_gui.core.errors import TokenRefused, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.worker_setup.account_calls import Call
from cfbatch_gui.core.worker_setup.refusals import NotThere, no_address, refusal_of, token_not_valid
from cfbatch_gui.core.worker_setup.worker_files import TAG, UploadBody
from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.core.workers_ai.checking import token_status
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.repeating import Repeating, Sleep
from cfbatch_gui.core.workers_ai.wire.decoding import decode

_SECONDS: Final = 60.0
_MOST_BYTES: Final = 8_000_000  # of an answer; a page of a thousand keys has less than one
_PATIENCE: Final = 4  # failures in a row; with the waits between them about seven seconds
_PER_PAGE: Final = 1_000
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_encode = msgspec.json.Encoder().encode

T = TypeVar("T")


class State(Enum):
    """How far a call is."""

    RUNNING = "running"
    WAITING = "waiting"  # before it is made again
    DONE = "done"
    NOT_NEEDED = "not needed"  # there already, or not there any more
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of one call of the list; `note` is what was found by it, or what is waited for, else ""."""

    call: Call
    state: State
    note: str = ""


Show = Callable[[Progress], None]


class _Subdomain(msgspec.Struct):
    subdomain: str | None = None


class _Settings(msgspec.Struct):
    tags: list[str] | None = None


class _Workflow(msgspec.Struct):
    script_name: str = ""


class _Object(msgspec.Struct):
    key: str = ""


_nothing: Final = msgspec.json.Decoder(msgspec.Raw)
_subdomain: Final = msgspec.json.Decoder(_Subdomain | None)
_settings: Final = msgspec.json.Decoder(_Settings | None)
_workflow: Final = msgspec.json.Decoder(_Workflow | None)
_objects: Final = msgspec.json.Decoder(list[_Object] | None)


class Account:
    """An account by a client of its API. `show` is called with the progress of each call.

    All calls raise NotConnected, TokenRefused (which names the call and the permission), StorageNotActivated,
    AddressMissing, ServiceRefused, ServiceBusy, Unreachable and ReplyError, and nothing of these holds a secret.
    """

    def __init__(self, client: WorkersAI, show: Show, *, sleep: Sleep = asyncio.sleep) -> None:
        self._client, self._show, self._sleep = client, show, sleep

    def done(self, call: Call, note: str = "") -> None:
        """Show that what a call stands for is done, or found."""
        self._show(Progress(call, State.DONE, note))

    def skip(self, call: Call, note: str) -> None:
        """Show that a call is not needed."""
        self._show(Progress(call, State.NOT_NEEDED, note))

    async def address(self, call: Call) -> str:
        """The name of the account's address at workers.dev. Raises AddressMissing."""
        found = await self._make(call, _subdomain)
        name = (found and found.subdomain) or ""
        if not _LABEL.fullmatch(name):
            self._show(Progress(call, State.FAILED))
            raise no_address("" if not name else f"subdomain {name[:80]!r}")
        self.done(call, message("It is {address}.", address=f"{name}.workers.dev"))
        return name

    async def is_worker_ours(self, call: Call) -> bool | None:
        """Whether the Worker was put there by this program; None where there is no Worker of this name."""
        try:
            found = await self._make(call, _settings)
        except NotThere:
            self.done(call, _NONE)
            return None
        ours = found is not None and TAG in (found.tags or ())
        self.done(call, _THERE if ours else message("There is one that this program did not put there."))
        return ours

    async def worker_of_workflow(self, call: Call) -> str | None:
        """The name of the Worker that a Workflow belongs to; None where there is no Workflow of this name."""
        try:
            found = await self._make(call, _workflow)
        except NotThere:
            self.done(call, _NONE)
            return None
        owner = found.script_name if found is not None else ""
        self.done(call, message("There is one of the Worker “{name}”.", name=owner))
        return owner

    async def has_bucket(self, call: Call) -> bool:
        """Whether there is a bucket of this name. Raises StorageNotActivated."""
        try:
            await self._make(call, _nothing)
        except NotThere:
            self.done(call, _NONE)
            return False
        self.done(call, _THERE)
        return True

    async def put(
        self,
        call: Call,
        body: UploadBody | dict[str, object],
        *,
        content_type: str = "application/json",
        hidden: Sequence[Token] = (),
    ) -> None:
        """Make a call that puts something there. `hidden` are the secrets in its body."""
        whole = body if isinstance(body, UploadBody) else _encode(body)
        await self._make(call, _nothing, whole, content_type=content_type, hidden=hidden)
        self.done(call)

    async def delete(self, call: Call) -> bool:
        """Make a call that deletes something; False when it is not there any more."""
        try:
            await self._make(call, _nothing)
        except NotThere:
            self.skip(call, _NOT_THERE)
            return False
        self.done(call)
        return True

    async def keys(self, call: Call, prefix: str) -> tuple[str, ...]:
        """The first keys of a bucket that begin with `prefix`, at most a page of them; none without the bucket."""
        query = urlencode({"per_page": _PER_PAGE, "prefix": prefix})
        try:
            found = await self._make(call, _objects, query=query)
        except NotThere:
            found = None
        self.done(call)
        return tuple(each.key for each in found or ())

    async def delete_key(self, call: Call, key: str) -> None:
        """Delete one object of a bucket; nothing if it is not there."""
        with suppress(NotThere):
            await self._make(call, _nothing, key=key)

    async def _make(
        self,
        call: Call,
        decoder: msgspec.json.Decoder[T],
        body: bytes = b"",
        *,
        content_type: str = "application/json",
        hidden: Sequence[Token] = (),
        query: str = "",
        key: str = "",
    ) -> T:
        """The result of a call. Raises NotThere where that is an answer to it."""
        # Slashes of a key stand for themselves, as the API's page demands; whoever gives a key has checked its form.
        path = call.path.removeprefix("/").replace("{key}", quote(key, safe="/"))

        async def once() -> T:
            self._show(Progress(call, State.RUNNING))
            answer = await self._client.call_api(
                f"{path}?{query}" if query else path,
                body,
                what="setup",
                method=call.method,
                content_type=content_type,
                hidden=hidden,
                seconds=_SECONDS,
                most_bytes=_MOST_BYTES,
                refuse=partial(refusal_of, call),
            )
            return decode(decoder, answer.result, call.step)

        def waiting(error: UserError, seconds: float) -> None:
            note = message("{reason} It is tried again in {n:.0f} s.", reason=error.message, n=seconds)
            self._show(Progress(call, State.WAITING, note))

        try:
            return await Repeating(patience=_PATIENCE, sleep=self._sleep, waiting=waiting)(once)
        except NotThere:
            raise
        except TokenRefused as error:
            self._show(Progress(call, State.FAILED))
            raise await self._why_refused(error) from error
        except UserError:
            self._show(Progress(call, State.FAILED))
            raise

    async def _why_refused(self, error: TokenRefused) -> TokenRefused:
        status = await token_status(self._client)
        is_valid = status is not None and status.word == "active"
        return error if is_valid else token_not_valid(error, self._client.connection.title)


_NONE: Final = message("There is none yet.")
_THERE: Final = message("It is there already.")
_NOT_THERE: Final = message("It is not there.")
