"""The program's client in front of a service that mixes answers up: nothing may reach another text."""

import asyncio
import os
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec

from cfbatch_gui.core.errors import OutcomeUnknown, ReplyError, Unreachable, UserError
from cfbatch_gui.core.jobs.run.watching import READINGS
from cfbatch_gui.core.workers_ai import answers
from cfbatch_gui.core.workers_ai import client as client_module
from cfbatch_gui.core.workers_ai import transport as transport_module
from cfbatch_gui.core.workers_ai.answers import Finished, Scored, expect, match, read_answer, read_run
from cfbatch_gui.core.workers_ai.client import Reply, WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import cloudflare
from cfbatch_gui.core.workers_ai.limits import ExchangeLimits, RateBudget
from cfbatch_gui.core.workers_ai.requests import RankRequest, encode_request
from cfbatch_gui.core.workers_ai.transport import ExchangeError, HttpAnswer, Transport
from tests.prove.child import put
from tests.prove.compare import Breach, Finding
from tests.prove.mixing_service import MODEL, StandIn, StandInBatch, score_of

TOGETHER: Final = 8  # exchanges in flight, as of several jobs
BATCHES_PER_JOB: Final = 4
LIMITS: Final = ExchangeLimits(poll_seconds=2.0, run_seconds=2.0)


@dataclass
class Counts:
    """What came of the answers that were sent."""

    sent: int = 0
    used: int = 0
    refused: int = 0
    wrong: list[Finding] = field(default_factory=list)


class Driver:
    """Asks for batches of several jobs and calls synchronously, as the watcher does, until enough answers were sent."""

    def __init__(self, stand_in: StandIn, seed: int, answers: int, transport: Transport) -> None:
        async def no_token() -> None:
            return None

        budget = RateBudget(calls=10**9)
        connection = cloudflare("0" * 32, base_url=stand_in.url)
        self._client = WorkersAI(connection, no_token, transport=transport, budget=budget, limits=LIMITS)
        self._stand_in, self._answers = stand_in, answers
        self._chance, self._numbers = random.Random(seed), 0
        self.counts = Counts()

    async def run(self) -> Counts:
        """Everything, TOGETHER jobs at a time."""
        await asyncio.gather(*(self._jobs() for _ in range(TOGETHER)))
        self.counts.sent = self._stand_in.sent
        return self.counts

    async def _jobs(self) -> None:
        while self._stand_in.sent < self._answers:
            if self._chance.random() < 0.3:
                await self._call()
            else:
                await self._job()

    async def _job(self) -> None:
        """A job whose references come back once takes no answer without them, as `collect` has it."""
        has_references, says_id = self._chance.random() < 0.5, self._chance.random() < 0.3
        have_come_back = False
        for _ in range(BATCHES_PER_JOB):
            self._numbers += 1
            name = f"b-{self._numbers}"
            requests = tuple(self._request(f"{name}-{number}") for number in range(2))
            self._stand_in.add(StandInBatch(name, requests, has_references, says_id, have_come_back))
            readings = 0
            while readings < READINGS:
                try:
                    answer = await self._client.ask(MODEL, name)
                    assert isinstance(answer, Reply)
                    self._compare(name, answer.finished, requests, required=have_come_back)
                except Unreachable:
                    self.counts.refused += 1
                except (ReplyError, UserError):
                    self.counts.refused += 1
                    readings += 1
                else:
                    have_come_back |= any(each.external_reference for each in answer.finished.elements)
                    break

    async def _call(self) -> None:
        self._numbers += 1
        request = self._request(f"c-{self._numbers}")
        try:
            raw = await self._client.run(MODEL, encode_request(request))
            self._compare(f"c-{self._numbers}", read_run(raw), (request,), required=False)
        except (OutcomeUnknown, UserError):
            self.counts.refused += 1

    def _request(self, name: str) -> RankRequest:
        return RankRequest(f"query {name}", (f"first of {name}", f"second of {name}"), reference=f"r-{name}")

    def _compare(self, name: str, found: Finished, requests: tuple[RankRequest, ...], *, required: bool) -> None:
        expected = [expect(request) for request in requests]
        for matched in list(match(found, expected, references_required=required)):
            request = requests[matched.index]
            right = [score_of(request.query or "", context) for context in request.contexts]
            if not isinstance(matched, Scored) or matched.scores.tolist() != right:
                self.counts.wrong.append(Finding(Breach.WRONG, f"{name}, request {matched.index}"))
        self.counts.used += 1


class KeptTransport(Transport):
    """Broken on purpose: keeps its connections, as the program once did."""

    def __init__(self) -> None:
        super().__init__()
        self._kept = httpx.AsyncClient(trust_env=False, limits=httpx.Limits(max_keepalive_connections=4))

    async def send(self, method: str, url: str, **named: Any) -> HttpAnswer:
        """Send on any connection that is free."""
        try:
            answer = await self._kept.request(method, url, headers=named["headers"], content=named["body"])
        except httpx.HTTPError as error:
            raise ExchangeError("broken", type(error).__name__, body_left=True) from None
        return HttpAnswer(answer.status_code, dict(answer.headers), answer.content)


def _nothing() -> None:
    """No variant."""


def _request_id_unchecked() -> None:
    put(client_module, "read_answer", lambda data: nameless(read_answer(data)))


def nameless(answer: Any) -> Any:
    """The answer as if it named nobody."""
    return replace(answer, request_id="")


def _references_not_required() -> None:
    put(answers, "_check_references", lambda *_, **__: None)


def _end_unchecked() -> None:
    async def unchecked(*_: object) -> None:
        return

    put(transport_module, "_check_end", unchecked)


@dataclass(frozen=True, slots=True)
class Broken:
    """A broken variant of the client: what is patched in a child process, and the transport it uses."""

    name: str
    install: Callable[[], None] = _nothing
    transport: Callable[[], Transport] = Transport


WHOLE: Final = Broken("the program as it is")
BROKEN: Final = (
    Broken("connections kept", transport=KeptTransport),
    Broken("the request ID of an answer not compared", _request_id_unchecked),
    Broken("references not required", _references_not_required),
    Broken("bytes behind an answer not looked at", _end_unchecked),
)


async def drive(answers: int, seed: int, broken: Broken = WHOLE) -> Counts:
    """One process's share, in the running loop."""
    async with StandIn(seed) as stand_in:
        return await Driver(stand_in, seed, answers, broken.transport()).run()


def count(answers: int, seed: int, workers: int, broken: Broken = WHOLE) -> Counts:
    """Share the answers among child processes, and add up what they found. Raises RuntimeError if one failed."""
    total = Counts()
    with tempfile.TemporaryDirectory(prefix="cfbatch-leftovers-") as folder:
        children = []
        for number in range(workers):
            path = Path(folder, str(number))
            share = answers // workers + (number < answers % workers)
            children.append((_fork(path, share, seed * 1_000 + number, broken), path))
        for process, path in children:
            _, status = os.waitpid(process, 0)
            if status or not path.exists():
                raise RuntimeError("a child process failed; its traceback is above")
            part = msgspec.json.decode(path.read_bytes(), type=Counts)
            total.sent, total.used = total.sent + part.sent, total.used + part.used
            total.refused += part.refused
            total.wrong += part.wrong
    return total


def _fork(path: Path, answers: int, seed: int, broken: Broken) -> int:
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        broken.install()
        path.write_bytes(msgspec.json.encode(asyncio.run(drive(answers, seed, broken))))
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def run(answers: int, seed: int, workers: int) -> list[Finding]:
    """Everything that reached a wrong text; a run in which hardly any answer was used is a finding too."""
    counts = count(answers, seed, workers)
    if counts.used < counts.sent // 10:
        return [*counts.wrong, Finding(Breach.UNREACHED, f"only {counts.used} of {counts.sent} answers were used")]
    return counts.wrong


def catch(broken: Broken, seed: int, *, answers: int = 4_000, workers: int = 2) -> list[Finding]:
    """What a broken variant lets through; nothing means that it was not caught."""
    return count(answers, seed, workers, broken).wrong
