"""The calls of the Batch API, and the error that each failed exchange stands for.

Source: https://developers.cloudflare.com/workers-ai/features/batch-api/rest-api/
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec

from cfbatch_gui.core import errors
from cfbatch_gui.core.errors import ReplyError, ServiceBusy, ServiceRefused, Unreachable, UnreadableReply, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai import answers
from cfbatch_gui.core.workers_ai.answers import Finished, ServiceAnswer, Waiting, read_answer, read_gateway
from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.core.workers_ai.connection_kinds import Connection, ConnectionKind
from cfbatch_gui.core.workers_ai.limits import BLOCK_SECONDS, ExchangeLimit, ExchangeLimits, RateBudget
from cfbatch_gui.core.workers_ai.refusals import Refusal, Refuse, read_retry_after, refusal
from cfbatch_gui.core.workers_ai.requests import encode_poll
from cfbatch_gui.core.workers_ai.transport import LARGE, REDACTED, ExchangeError, Headers, HttpAnswer, Transport, What

PER_PAGE = 100  # models of the catalogue in one answer
NO_REQUEST = "00000000-0000-4000-8000-000000000000"  # no batch has this id

_PASSING = frozenset({3007, 3008, 3046})  # timed out at the service
_OF_THE_BATCH = frozenset({5001, 5006, 3030, 5004, 3003, 3006})  # the model failed, or it did not take the texts
_LIMITS = ExchangeLimits()

_NOT_REACHED: Final = {  # by the reason of an ExchangeError
    "broken": message("connection_title_broke"),
    "name": message("title_could_not_be_found_check"),
    "refused": message("title_could_not_be_reached_check"),
    "address": message("address_title_cannot_be_used_nothing"),
    "tls": message("connection_title_is_not_trusted_computer"),
    "time": message("title_did_not_answer_time"),
    "clock": message("certificate_title_is_not_valid_now"),
    "proxy": message("computer_proxy_proxy_does_not_let"),
    "proxy_address": message("computer_proxy_cannot_be_used_address"),
    "mixed": message("connection_title_held_more_than_one"),
    "too_large": message("title_sent_far_more_than_answer"),
}
_SIGN_IN_FIRST: Final = 511  # HTTP's own status for a captive portal

T = TypeVar("T")


class Reply(msgspec.Struct, frozen=True):
    """A finished batch's answer, raw and read."""

    raw: bytes
    finished: Finished


class WorkersAI:
    """The calls of one connection. `token` is called for each of them, so that no token is kept here."""

    def __init__(
        self,
        connection: Connection,
        token: Callable[[], Awaitable[Token | None]],
        *,
        transport: Transport,
        budget: RateBudget,
        gateway_token: Callable[[], Awaitable[Token | None]] | None = None,
        clock: Callable[[], float] = time.time,
        limits: ExchangeLimits = _LIMITS,
    ) -> None:
        self.connection, self._limits = connection, limits
        self._token, self._gateway_token = token, gateway_token
        self._transport, self._budget, self.now = transport, budget, clock

    async def submit(self, model: str, body: bytes) -> Waiting:
        """Send a batch, once.

        Raises Unreachable only if no byte of the body can have left, ServiceRefused or ServiceBusy for a
        refusal in the service's own envelope, TokenRefused, NotConnected, and OutcomeUnknown for everything
        else.
        """
        answer, envelope = await self._paid("submit", model, body, self._limits.submit)
        if 200 <= answer.status < 300 and envelope.ok:
            try:
                read = read_answer(answer.body)
            except ReplyError as error:
                raise self._unknown(error.detail or error.message) from error
            if not isinstance(read, Waiting) or not read.request_id:
                raise self._unknown("the answer holds no request ID")
            if not answers.is_request_id(read.request_id) or REDACTED in read.request_id:
                raise self._unknown(f"the answer's request ID cannot be one: {len(read.request_id):,} characters")
            return read
        if envelope.is_enveloped and 400 <= answer.status < 500 and answer.status not in (408, 409):  # it said no
            raise self._refusal(answer, envelope)
        raise self._unknown(refusal(Refusal(answer.status, envelope.errors, "", self.now())).detail)

    async def run(self, model: str, body: bytes) -> bytes:
        """The raw bytes of a synchronous call's result. Raises as `submit`; the service's own error is final."""
        answer, envelope = await self._paid("run", model, body, self._limits.run)
        if envelope.is_enveloped and (not envelope.ok or answer.status >= 400):
            raise self._final(answer, envelope)
        if not envelope.ok:
            raise self._unknown(f"HTTP {answer.status}")
        return answer.body

    async def _paid(
        self, what: What, model: str, body: bytes, limit: ExchangeLimit
    ) -> tuple[HttpAnswer, ServiceAnswer]:
        url = run_url(self.connection, model, queued=what == "submit")
        answer = await self._exchange(what, url, body, limit)
        try:
            return answer, await self._off_the_loop(answer.body, partial(self._envelope, answer))
        except (Unreachable, UnreadableReply) as error:
            raise self._unknown(error.detail) from error

    async def ask(self, model: str, request_id: str) -> Waiting | Reply:
        """Poll a batch; may be repeated.

        Raises RequestGone, TokenRefused, ServiceBusy, ServiceRefused, Unreachable (also for a proxy's page),
        UnreadableReply.
        """
        url = run_url(self.connection, model, queued=True)
        answer = await self._exchange("ask", url, encode_poll(request_id), self._limits.poll)
        try:
            await self._accepted(answer)
        except errors.QueueNotSupported as error:
            # It concerns the model, not the batch, which was accepted while the model took batches and may have been
            # billed: the batch stays queued, and no other way of sending it is offered.
            sentence = message("service_says_model_takes_no_batches", service=self.connection.title)
            raise ServiceRefused(sentence, detail=error.detail, code=error.code) from error
        return await self.read_reply(answer.body, request_id)

    async def read_reply(self, body: bytes, request_id: str) -> Waiting | Reply:
        """Read an answer to a poll. Raises UnreadableReply as `ask`."""
        try:
            read = await self._off_the_loop(body, partial(read_answer, body))
        except ReplyError as error:
            raise UnreadableReply(error.message, raw=body, detail=error.detail) from error
        if read.request_id not in ("", request_id):
            title = self.connection.title
            sentence = message("title_answered_about_another_batch_than", title=title)
            raise UnreadableReply(sentence, raw=body, detail=f"request_id {read.request_id[:80]!r}")
        return Reply(body, read) if isinstance(read, Finished) else read

    async def find_models(self, words: str, *, page: int = 1) -> ServiceAnswer:
        """The catalogue's entries for some words, at most `PER_PAGE`."""
        search = f"search={quote(words, safe='')}&per_page={PER_PAGE}&page={page}"
        return await self.call_api(f"accounts/{self.connection.account_id}/ai/models/search?{search}")

    async def call_api(
        self,
        rest: str,
        body: bytes = b"",
        *,
        what: What = "check",
        method: str = "",
        content_type: str = "application/json",
        hidden: Sequence[Token] = (),
        limit: ExchangeLimit | None = None,
        refuse: Refuse = refusal,
    ) -> ServiceAnswer:
        """Call Cloudflare's v4 API once; `hidden` are secrets in the body.

        Raises UsageError where there is none, and as `ask`.
        """
        here, headers = self.connection, {"content-type": content_type}
        if here.kind is ConnectionKind.WORKER:
            raise errors.UsageError(message("title_leads_no_account_api", title=here.title))
        url, limit = f"{here.api_base_url}/{rest}", limit or self._limits.check
        answer = await self._exchange(what, url, body, limit, method=method, headers=headers, hidden=hidden)
        if method == "DELETE" and not answer.body and 200 <= answer.status < 300:  # as Workers documents it
            return ServiceAnswer(True, answers.NULL, (), is_enveloped=True)
        return await self._accepted(answer, refuse)

    async def call_worker(
        self, method: str, rest: str, body: bytes = b"", *, headers: Mapping[str, str] | None = None, kind: str = "json"
    ) -> bytes:
        """Call the user's own Worker's collecting room, once. Raises UsageError for no Worker, and as `ask`.

        The body of a 2xx is in no envelope, and of this `kind`, or of any but a page with "".
        """
        here = self.connection
        if here.kind is not ConnectionKind.WORKER:
            raise errors.UsageError(message("title_is_not_worker_your_own", title=here.title))
        url = f"{here.base_url}/{rest}"
        limits = self._limits
        limit = limits.submit if body else limits.check if kind == "json" else limits.poll
        answer = await self._exchange("account", url, body, limit, method=method, headers=headers)
        if not 200 <= answer.status < 300:
            await self._accepted(answer)
        found = answer.headers.get("content-type", "").lower()
        if "html" in found or kind not in found:
            raise self._not_the_service(answer)  # such as the page of a network that wants a sign-in
        return answer.body

    async def probe(self, model: str) -> None:
        """Poll a batch that does not exist. Raises as `ask` unless the service answers just that."""
        url = run_url(self.connection, model, queued=True)
        answer = await self._exchange("check", url, encode_poll(NO_REQUEST), self._limits.check)
        with suppress(errors.RequestGone):
            await self._accepted(answer)

    async def _exchange(
        self,
        what: What,
        url: str,
        body: bytes,
        limit: ExchangeLimit,
        *,
        method: str = "",
        headers: Mapping[str, str] | None = None,
        hidden: Sequence[Token] = (),
    ) -> HttpAnswer:
        """Raises Unreachable, and OutcomeUnknown for what may be paid for as soon as a byte of it may have left."""
        gateway = await self._gateway_token() if self._gateway_token is not None else None
        all_headers = Headers({**headers_of(self.connection, await self._token(), gateway), **(headers or {})})
        if left := self._budget.blocked_for:
            raise refusal(Refusal(429, (), str(left), self.now(), self.connection.title))
        await self._budget.take()
        method = method or ("POST" if body else "GET")
        try:
            answer = await self._transport.send(
                method, url, what=what, headers=all_headers, body=body, hidden=hidden, limit=limit
            )
        except ExchangeError as error:
            if error.body_left and what in ("submit", "run"):
                raise self._unknown(error.detail) from error
            raise self._unreachable(error) from error
        self._budget.heed(answer.headers.get("ratelimit", ""))
        return answer

    async def _accepted(self, answer: HttpAnswer, refuse: Refuse = refusal) -> ServiceAnswer:
        """The answer without its envelope. Raises the refusal in it, and Unreachable for one that is not its own."""
        envelope = await self._off_the_loop(answer.body, partial(self._envelope, answer))
        if answer.status >= 400 and not envelope.is_enveloped:
            raise self._not_the_service(answer)
        if not envelope.ok or answer.status >= 400:
            raise self._refusal(answer, envelope, refuse)
        return envelope

    async def _off_the_loop(self, body: bytes, read: Callable[[], T]) -> T:
        return await asyncio.to_thread(read) if len(body) > LARGE else read()

    def _envelope(self, answer: HttpAnswer) -> ServiceAnswer:
        if 300 <= answer.status < 400:
            raise self._not_the_service(answer)
        try:
            return _READERS.get(self.connection.kind, answers.read_envelope)(answer.body, answer.status)
        except ReplyError as error:
            if answer.status < 300 and "json" in answer.headers.get("content-type", "").lower():
                raise UnreadableReply(error.message, raw=answer.body, detail=error.detail) from error
            raise self._not_the_service(answer) from error

    def _refusal(self, answer: HttpAnswer, envelope: ServiceAnswer, refuse: Refuse = refusal) -> UserError:
        retry_after = answer.headers.get("retry-after", "")
        if answer.status == 429 and not any(error.code for error in envelope.errors):
            wait = read_retry_after(retry_after, self.now())
            self._budget.block(BLOCK_SECONDS if wait is None else wait)  # every call of the token, not only this one
        title = self.connection.title
        found = refuse(Refusal(answer.status, envelope.errors, retry_after, self.now(), title))
        if isinstance(found, errors.TokenRefused) and self.connection.kind is ConnectionKind.WORKER:
            sentence = message("title_refused_secret_sending_stopped_nothing", title=title)
            return errors.TokenRefused(sentence, detail=found.detail, code=found.code, status=found.status)
        return found

    def _final(self, answer: HttpAnswer, envelope: ServiceAnswer) -> UserError:
        found = self._refusal(answer, envelope)
        if not isinstance(found, ServiceBusy) or answer.status == 429:
            return found
        sentence = message("title_stopped_middle_request_there_is", title=self.connection.title)
        return ServiceRefused(sentence, detail=found.detail, code=found.code, action=errors.Action.RETRY)

    def _unreachable(self, error: ExchangeError) -> Unreachable:
        now = f"{datetime.fromtimestamp(self.now()).astimezone():%Y-%m-%d %H:%M}"
        words = _NOT_REACHED.get(error.reason, _NOT_REACHED["broken"]).filled(
            title=self.connection.title, proxy=error.proxy, now=now
        )
        return Unreachable(words, detail=error.detail)

    def _not_the_service(self, answer: HttpAnswer) -> Unreachable:
        here, kind = self.connection, answer.headers.get("content-type", "no content type").split(";")[0][:60]
        sentence = message("something_other_than_title_answered_if", title=here.title)
        if answer.status >= 500 and answer.status != _SIGN_IN_FIRST:
            sentence = message("title_or_something_on_way_fault", title=here.title)
        elif answer.status == 429 and here.kind is ConnectionKind.WORKER:
            # With its page 1027: https://developers.cloudflare.com/workers/platform/limits/#daily-requests
            sentence = message("cloudflare_lets_no_calls_through_title", title=here.title)
        return Unreachable(sentence, detail=f"HTTP {answer.status}, {kind}")

    def _unknown(self, detail: str) -> errors.OutcomeUnknown:
        return errors.OutcomeUnknown(message("batch_was_sent_title_but_no", title=self.connection.title), detail=detail)


def is_passing(error: UserError) -> bool:
    """Whether the same call may succeed later without any action by the user."""
    return isinstance(error, ServiceBusy | Unreachable) or error.code in _PASSING


def ends_batch(error: ServiceRefused) -> bool:
    """Whether a refused poll means that the batch has failed; other refusals concern the poll alone."""
    return error.code in _OF_THE_BATCH


_MODEL: Final = re.compile(r"@?[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)*")
# A gateway repeats calls by itself, which may be billed twice, answers from its cache, and keeps texts in its
# logs, unless a call forbids it. ai-gateway/configuration/, 2026-11.
_OF_GATEWAYS: Final = {"cf-aig-max-attempts": "1", "cf-aig-skip-cache": "true", "cf-aig-collect-log-payload": "false"}
_READERS: Final[dict[ConnectionKind, Callable[[bytes, int], ServiceAnswer]]] = {
    ConnectionKind.WORKER: answers.read_bare,
    ConnectionKind.GATEWAY: read_gateway,
}


def run_url(connection: Connection, model: str, *, queued: bool) -> str:
    """The URL that runs a model; UsageError for a string that is no model's name.

    The name's slashes are not percent-encoded: the service would answer 7000 or 7003. A Worker passes bodies to the
    Workers Binding and returns its answers without an envelope. Its errors are
    `{"error":{"code":5504,"message":"…"}}` with the binding's code, or its own: 10000 (401, no secret or a wrong one),
    3006 (413, too large), 5006 (400, not a body that it takes), 7003 (404, no such address) and 0 (5xx, outcome
    unknown). A 4xx in this form means that nothing was accepted. An AI Gateway, by its own URL or a header, forwards
    runs of models alone.
    """
    if not _MODEL.fullmatch(model):
        raise errors.UsageError(message("model_is_not_name_model_names", model=model))
    match connection.kind:
        case ConnectionKind.WORKER:
            base = f"{connection.base_url}/ai/run"
        case ConnectionKind.GATEWAY if not connection.gateway_by_header:
            base = f"{connection.base_url}/{connection.account_id}/{connection.gateway}/workers-ai"
        case _:
            base = f"{connection.api_base_url}/accounts/{connection.account_id}/ai/run"
    return f"{base}/{model}{'?queueRequest=true' if queued else ''}"


def headers_of(connection: Connection, token: Token | None, gateway: Token | None) -> dict[str, str]:
    """`gateway` is for an AI Gateway that requires a token of its own."""
    headers = {"authorization": f"Bearer {token.reveal()}"} if token is not None else {}
    headers["content-type"] = "application/json"
    if connection.kind is ConnectionKind.GATEWAY:
        headers |= _OF_GATEWAYS
        if connection.gateway_by_header:
            headers["cf-aig-gateway-id"] = connection.gateway
        if gateway is not None:
            headers["cf-aig-authorization"] = f"Bearer {gateway.reveal()}"
    return headers


Sleep = Callable[[float], Awaitable[None]]
OnWait = Callable[[UserError, float], None]

PATIENCE: Final = 6  # failures in a row after which a call is given up; with the waits below about a minute
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0  # seconds


class Repeating:
    """Makes calls until they succeed, at most `patience` times each.

    A wait is the one that the service asked for, or else twice the one before; `waiting` is called before each.
    """

    def __init__(
        self, *, patience: int = PATIENCE, sleep: Sleep = asyncio.sleep, waiting: OnWait = lambda error, seconds: None
    ) -> None:
        self._patience, self._sleep, self._waiting = patience, sleep, waiting

    async def __call__(self, call: Callable[[], Awaitable[T]]) -> T:
        wait = _FIRST_WAIT
        for failures in range(1, self._patience + 1):
            try:
                return await call()
            except UserError as error:
                may_pass = is_passing(error) or isinstance(error, UnreadableReply)
                if failures == self._patience or not may_pass:
                    raise
                seconds = max(wait, error.retry_after) if isinstance(error, ServiceBusy) else wait
                self._waiting(error, seconds)
            await self._sleep(seconds)
            wait = min(2 * wait, _LONGEST_WAIT)
        raise AssertionError("patience is at least 1")
