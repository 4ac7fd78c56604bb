"""The calls of a probe, in their order: free ones first, then one batch of each form, then one call without the queue.

Nothing that is paid for is sent twice. An accepted batch is written down before anything else is done with its id, as
those of jobs are.
"""

import asyncio
import hashlib
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import (
    DataError,
    NotConnected,
    ServiceBusy,
    ServiceRefused,
    TokenRefused,
    Unreachable,
    UserError,
)
from cfbatch_gui.core.messages import message, stored_message
from cfbatch_gui.core.workers_ai.client import Reply, WorkersAI, is_passing
from cfbatch_gui.core.workers_ai.connection_kinds import ConnectionKind
from cfbatch_gui.core.workers_ai.probe.evidence import Evidence, Exchange, Recorder, Step, exchange_of
from cfbatch_gui.core.workers_ai.probe.findings import Finding
from cfbatch_gui.core.workers_ai.probe.judging import judge_all
from cfbatch_gui.core.workers_ai.probe.probe_requests import Form, ProbeBatch, ProbePlan
from cfbatch_gui.core.workers_ai.wire.requests import encode_request

NONSENSE: Final = "no-model-is-called-so-6f1b"
NO_MODEL: Final = "@cf/baai/no-such-model-6f1b"
WAIT_SECONDS: Final = 300.0  # for all batches: Cloudflare's page says that they usually take up to five minutes
LONGEST_PAUSE: Final = 15.0  # seconds between two polls
CANCEL_SECONDS: Final = 1.5  # that a submit in flight has left when a probe is cancelled: the window may be closing


@dataclass(frozen=True, slots=True)
class Accepted:
    """A batch that the service took. `sha256` is of its body, `time` in seconds since 1970, UTC."""

    form: Form
    attempt: str
    request_id: str
    sha256: str
    time: float


@dataclass(frozen=True, slots=True)
class ProbedBatch:
    """What became of a batch. `request_id` is whole, "" when there is none; `sentence` says what became of it."""

    form: Form
    request_id: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The findings of a probe, in the order of the table. `started` is in seconds since 1970, UTC.

    `evidence` has what came back, as it came.
    """

    plan: ProbePlan
    kind: ConnectionKind
    account_mark: str
    started: float
    version: str
    findings: tuple[Finding, ...]
    batches: tuple[ProbedBatch, ...]
    evidence: Evidence


class Probe:
    """One probe. `recorder` is the transport of `client`.

    `keep` writes an accepted batch down, and has done so when it returns; `show` is called with a sentence for each
    step, with the whole request id when a batch was accepted.
    """

    def __init__(
        self,
        client: WorkersAI,
        recorder: Recorder,
        plan: ProbePlan,
        *,
        keep: Callable[[Accepted], Awaitable[None]],
        show: Callable[[str], None] = lambda sentence: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._client, self._recorder, self._plan = client, recorder, plan
        self._keep, self._show, self._sleep, self._wait_seconds = keep, show, sleep, wait_seconds
        self._evidence = Evidence(plan, client.connection.kind, client.connection.title)
        self._sentences: dict[Form, str] = {}

    async def run(self) -> ProbeResult:
        """Make the probe.

        Raises ConnectionProblem, ServiceRefused and ServiceBusy when the first, free calls do not get through; nothing
        that is paid for was sent then.
        """
        started = self._client.now()
        await self._free_calls()
        for batch in self._plan.batches:
            if not await self._submit(batch):
                break
        await self._wait()
        await self._without_queue()
        batches = tuple(
            ProbedBatch(form, self._evidence.request_ids.get(form, ""), sentence)
            for form, sentence in self._sentences.items()
        )
        connection = self._client.connection
        return ProbeResult(
            self._plan,
            connection.kind,
            connection.account_mark,
            started,
            __version__,
            judge_all(self._evidence),
            batches,
            self._evidence,
        )

    async def _free_calls(self) -> None:
        name = self._plan.model.name
        if self._client.connection.kind is not ConnectionKind.WORKER:  # which has no list of models
            self._show(message("Searching the list of models…"))
            await self._first(Step.NONSENSE, self._client.find_models(NONSENSE))
            await self._first(Step.MODEL, self._client.find_models(name.rsplit("/", 1)[-1]))
        self._show(message("Asking for a batch that does not exist…"))
        await self._first(Step.UNKNOWN_ID, self._client.probe(name))
        await self._first(Step.UNKNOWN_MODEL, self._client.probe(NO_MODEL))

    async def _first(self, step: Step, call: Coroutine[Any, Any, Any]) -> None:
        """Make a free call, and go no further if the service does not answer, or does not let this account in."""
        exchange = await self._call(step, None, call)
        error = exchange.error
        if isinstance(error, NotConnected | TokenRefused | ServiceBusy):
            raise error
        if isinstance(error, Unreachable) and exchange.content is None:
            raise error
        if step is Step.NONSENSE and isinstance(error, ServiceRefused):
            raise error

    async def _call(self, step: Step, form: Form | None, call: Coroutine[Any, Any, Any]) -> Exchange:
        self._recorder.last, error = None, None
        try:
            await call
        except UserError as found:
            error = found
        exchange = exchange_of(step, form, self._recorder.last, error)
        self._evidence.exchanges.append(exchange)
        return exchange

    async def _submit(self, batch: ProbeBatch) -> bool:
        """Send a batch, once; whether it makes sense to send the next one. A submit in flight is not cut off."""
        self._show(message("Sending a batch of the form “{form}”…", form=stored_message(batch.form)))
        sending = asyncio.create_task(self._send(batch))
        try:
            return await asyncio.shield(sending)
        except asyncio.CancelledError:
            await asyncio.wait({sending}, timeout=CANCEL_SECONDS)
            raise

    async def _send(self, batch: ProbeBatch) -> bool:
        body, attempt = batch.body, uuid.uuid4().hex

        async def submit() -> None:
            queued = await self._client.submit(self._plan.model.name, body)
            self._evidence.request_ids[batch.form] = queued.request_id
            self._sentences[batch.form] = message("It was accepted.")
            digest = hashlib.sha256(body).hexdigest()
            try:
                await self._keep(Accepted(batch.form, attempt, queued.request_id, digest, self._client.now()))
            except DataError as error:
                self._show(
                    message("Its id could not be written down, so keep it yourself. {sentence}", sentence=error.message)
                )
            self._show(message("Accepted as {request_id}.", request_id=queued.request_id))

        error = (await self._call(Step.SUBMIT, batch.form, submit())).error
        if error is not None:
            self._sentences[batch.form] = self._evidence.sentence_of(error)
        return error is None

    async def _wait(self) -> None:
        waiting = dict(self._evidence.request_ids)
        until, pause = self._client.now() + self._wait_seconds, self._client.connection.first_check
        if waiting:
            self._show(message("Waiting for the results…"))
        while waiting:
            for form, request_id in tuple(waiting.items()):
                if await self._is_over(form, request_id):
                    del waiting[form]
            if not waiting:
                break
            if self._client.now() + pause > until:
                break
            await self._sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        for form in waiting:
            self._sentences[form] = message("It was accepted, and was not finished in the time that the check waits.")
        finished = next(iter(self._evidence.finished()), None)
        if finished is not None:
            await self._call(
                Step.AGAIN, finished, self._client.ask(self._plan.model.name, self._evidence.request_ids[finished])
            )

    async def _is_over(self, form: Form, request_id: str) -> bool:
        """Poll a batch; whether it is finished, or will never be."""
        answers: list[object] = []

        async def ask() -> None:
            answers.append(await self._client.ask(self._plan.model.name, request_id))

        exchange = await self._call(Step.POLL, form, ask())
        if exchange.elements is not None and (exchange.elements or any(isinstance(each, Reply) for each in answers)):
            self._sentences[form] = message("It is finished.")
            return True
        if exchange.error is None or is_passing(exchange.error) or _says_wait(exchange):
            return False
        self._sentences[form] = self._evidence.sentence_of(exchange.error)
        return True

    async def _without_queue(self) -> None:
        if any(each.step is Step.SUBMIT and each.error and not each.status for each in self._evidence.exchanges):
            return  # the connection broke: the same would come of it, paid for or not
        self._show(message("Sending one request without the queue…"))
        (request,) = self._plan.run.requests
        await self._call(Step.RUN, None, self._client.run(self._plan.model.name, encode_request(request)))


def _says_wait(exchange: Exchange) -> bool:
    """Whether an answer that the program does not take says all the same that the batch goes on."""
    return exchange.is_good and isinstance(exchange.result, dict) and bool(exchange.result.get("status"))
