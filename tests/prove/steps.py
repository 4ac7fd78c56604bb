"""The named steps at which a child process kills itself. The program's own functions are wrapped in that child.

The program has no hooks for this. A step is counted: with `turn` 2 the child is killed in the second batch or file.
"""

import io
import os
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.run import collecting, runner, submitting
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.jobs.store import job_store, submissions
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.submissions import Event, Submission
from cfbatch_gui.core.workers_ai import transport
from cfbatch_gui.core.workers_ai.client import Reply, WorkersAI
from tests.prove.world import die, put, wrap

Hit = Callable[[], object]

AT_SERVICE = (BatchState.QUEUED, BatchState.RUNNING, BatchState.COLLECTING, BatchState.DONE)
PAID = ("submit", "run")  # exchanges whose outcome matters
_exchange: ContextVar[str] = ContextVar("exchange", default="")


@dataclass(frozen=True, slots=True)
class Step:
    """A step. `unknown` is the number of batches whose outcome is unknown after the next start.

    It is None where that number varies: while one batch is collected, another may be in transit. `shown` are the states
    that a batch which was shown may have in the ledger.
    """

    name: str
    install: Callable[[Hit], None]
    unknown: int | None = None
    shown: tuple[BatchState, ...] = ()

    def arm(self, turn: int = 1) -> None:
        """Make this process kill itself when it reaches the step for the `turn`th time."""
        left = turn

        def hit() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                die()

        self.install(hit)


def after_call(owner: Any, name: str) -> Callable[[Hit], None]:
    """A step directly after a call of a function."""
    return lambda hit: wrap(owner, name, after=lambda *_, **__: hit())


def before_call(owner: Any, name: str) -> Callable[[Hit], None]:
    """A step directly before a call of a function."""
    return lambda hit: wrap(owner, name, before=lambda *_, **__: hit())


def half_written(is_meant: Callable[[Path], bool]) -> Callable[[Hit], None]:
    """A step in the middle of the first write to an unfinished file."""

    def install(hit: Hit) -> None:
        original = Path.open

        class Dying(io.FileIO):
            def write(self, data: Any, /) -> int:
                super().write(bytes(data)[: len(data) // 2])
                hit()
                return super().write(bytes(data)[len(data) // 2 :]) + len(data) // 2

        def opened(path: Path, mode: str = "r", *arguments: Any, **named: Any) -> Any:
            if mode in ("x+b", "w+b") and is_meant(path):
                return io.BufferedRandom(Dying(path, mode.removesuffix("b")))
            return original(path, mode, *arguments, **named)

        put(Path, "open", opened)

    return install


def _commit(state: BatchState, *, before: bool = False) -> Callable[[Hit], None]:
    def install(hit: Hit) -> None:
        if before:
            wrap(Ledger, "save_batch", before=lambda _, batch, **__: hit() if batch.state is state else None)
        else:
            wrap(Ledger, "save_batch", after=lambda _, __, batch, **___: hit() if batch.state is state else None)

    return install


def _traced(event: str) -> Callable[[Hit], None]:
    """A step at a trace event of the transport, in an exchange that is paid for."""

    def install(hit: Hit) -> None:
        _name_exchanges()
        wrap(transport._Watch, "see", before=lambda _, seen, __: hit() if seen == event and _is_paid() else None)

    return install


def _name_exchanges() -> None:
    wrap(transport.Transport, "send", before=lambda *_, what="", **__: _exchange.set(what))


def _is_paid() -> bool:
    return _exchange.get() in PAID


def _body_half_sent(hit: Hit) -> None:
    _name_exchanges()
    streams: dict[int, Any] = {}

    def see(watch: object, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            streams[id(watch)] = info["return_value"]
        if event == "http11.send_request_body.started" and _is_paid():
            stream = streams[id(watch)]
            whole: Callable[..., Awaitable[None]] = stream.write

            async def half(data: bytes, timeout: float | None = None) -> None:
                await whole(data[: len(data) // 2], timeout=timeout)
                if data:  # the end of a message is an empty write
                    hit()
                await whole(data[len(data) // 2 :], timeout=timeout)

            stream.write = half

    wrap(transport._Watch, "see", before=see)


def _answer_read(hit: Hit) -> None:
    wrap(transport.Transport, "send", after=lambda *_, what="", **__: hit() if what in PAID else None)


def _half_written_line(event: Event) -> Callable[[Hit], None]:
    """A step in the middle of a line of submissions.jsonl, not of its copy outside of the data folder."""

    def install(hit: Hit) -> None:
        def half(path: Path, line: bytes) -> None:
            if path.name == "submissions.jsonl" and (b'"request_id":""' in line) is (event is Event.SENDING):
                size = path.stat().st_size if path.exists() else 0
                with path.open("ab") as stream:
                    stream.write(line[: len(line) // 2])
                hit()
                os.truncate(path, size)

        wrap(submissions, "append_line_durably", before=half)

    return install


def _written_line(event: Event) -> Callable[[Hit], None]:
    """A step after a line of submissions.jsonl, before it is written outside of the data folder too."""

    def install(hit: Hit) -> None:
        def written(_: object, path: Path, *lines: Submission) -> None:
            if path.name == "submissions.jsonl" and lines[-1].event is event:
                hit()

        wrap(job_store, "write_down", after=written)

    return install


def _shown_as(state: BatchState) -> Callable[[Hit], None]:
    """A step at which the user interface is notified that a batch has reached a state."""

    def install(hit: Hit) -> None:
        seen: set[tuple[str, int]] = set()

        def shown(_: object, __: JobStore, job: Job) -> None:
            for batch in job.batches:
                if batch.state is state and (job.id, batch.number) not in seen:
                    seen.add((job.id, batch.number))
                    hit()

        wrap(JobStore, "show", after=shown)

    return install


SUBMIT = (
    Step("sending not yet noted with the job", before_call(JobFolder, "note_sending"), unknown=0),
    Step("sending noted with the job", after_call(JobFolder, "note_sending"), unknown=0),
    Step("sending about to be committed", _commit(BatchState.SENDING, before=True), unknown=0),
    Step("sending committed", _commit(BatchState.SENDING), unknown=1),
    Step("attempt half written", _half_written_line(Event.SENDING), unknown=1),
    Step("attempt written to submissions.jsonl", _written_line(Event.SENDING), unknown=1),
    Step("connection open", _traced("connection.connect_tcp.complete"), unknown=1),
    Step("headers sent", _traced("http11.send_request_headers.complete"), unknown=1),
    Step("body half sent", _body_half_sent, unknown=1),
    Step("body sent", _traced("http11.send_request_body.complete"), unknown=1),
    Step("head of the answer read", _traced("http11.receive_response_headers.complete"), unknown=1),
    Step("answer read", _answer_read, unknown=1),
    Step("id half written", _half_written_line(Event.ACCEPTED), unknown=1),
    Step("id written to submissions.jsonl", _written_line(Event.ACCEPTED), unknown=0),
    Step("queued about to be committed", _commit(BatchState.QUEUED, before=True), unknown=0),
    Step("queued committed", _commit(BatchState.QUEUED), unknown=0),
    Step("queued shown", _shown_as(BatchState.QUEUED), unknown=0, shown=AT_SERVICE),
)

COLLECT = (
    Step(
        "answer received",
        lambda hit: wrap(WorkersAI, "ask", after=lambda got, *_: hit() if isinstance(got, Reply) else None),
    ),
    Step("reply half written", half_written(lambda path: path.parent.name == "replies")),
    Step("reply on disk", after_call(runner, "keep_reply")),
    Step("collecting about to be committed", _commit(BatchState.COLLECTING, before=True)),
    Step("collecting committed", _commit(BatchState.COLLECTING)),
    Step("data half stored", after_call(collecting._Collecting, "_store")),
    Step("data stored, not committed", after_call(collecting._Collecting, "run")),
    Step("data stored", after_call(runner, "collect")),
    Step("done about to be committed", _commit(BatchState.DONE, before=True)),
    Step("done committed", _commit(BatchState.DONE)),
    Step("done shown", _shown_as(BatchState.DONE), shown=(BatchState.DONE,)),
)

# A job of one call, which is not in the queue: the calls of a larger job run concurrently.
SYNCHRONOUS = (
    *SUBMIT[: [step.name for step in SUBMIT].index("answer read") + 1],
    *(
        replace(step, unknown=1)
        for step in COLLECT
        if step.name in ("reply half written", "collecting about to be committed")
    ),
    Step("reply on disk", after_call(submitting, "keep_reply"), unknown=1),
    *(replace(step, unknown=0) for step in COLLECT[[step.name for step in COLLECT].index("collecting committed") : -1]),
)
