"""A data folder, its account at the practice service, and the user's actions: start, kill, start again, decide.

The program runs in a child process that can be killed, forked from one in which everything is imported: the terminal
program's `main`, or the calls that the window makes. Only waiting times are changed, so that a job takes a tenth of a
second, and what a step or a variant changes on purpose.
"""

import functools
import inspect
import os
import random
import secrets
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cfbatch_gui.cli.command_line import run_command_line
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.run import runner
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from tests.canary import TOKEN
from tests.prove.compare import Breach, Comparison, Finding, Key, command_of, unfinished_files, write_input
from tests.support.practice import Accepted, accepted

Command = Callable[[], int]
Prepare = Callable[[], object]

TEXTS_PER_BATCH = 20  # so that a file of fifty rows is three batches
FIRST_CHECK = 0.03  # seconds before the first poll of a batch
_STEP = 0.002  # seconds between two checks of a child
_CRASHED = 70  # exit status of a command that raised


def nothing(*_: object, **__: object) -> None:
    """Leave the program as it is."""


def begin_child(command: Command, environ: Mapping[str, str], log: Path, prepare: Prepare = nothing) -> int:
    """Start a command in a child and return its process id. The caller must have no threads."""
    child = os.fork()
    if child:
        return child
    status = _CRASHED
    try:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.environ.clear()
        os.environ.update(environ)
        tempfile.tempdir = None
        random.seed()
        quicken()
        prepare()
        status = command()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def end_child(child: int, *, kill_after: float | None = None, patience: float = 30.0) -> int:
    """Wait for a child's end, or kill it after `kill_after` seconds, and in any case after `patience` seconds.

    Returns its exit status, below 0 when it was killed.
    """
    status = wait_for_child(child, patience if kill_after is None else kill_after)
    if status is None:
        os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status


def wait_for_child(child: int, seconds: float) -> int | None:
    """Wait for a child's end, for so many seconds; None when it is still at work then."""
    due = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= due:
            return None
        time.sleep(min(_STEP, max(0.0, due - time.monotonic())))


def die() -> None:
    """Kill this process with SIGKILL."""
    os.kill(os.getpid(), signal.SIGKILL)


def quicken() -> None:
    """Shorten the waits between polls, and make batches smaller."""
    make = WorkersAI.__init__

    def make_quick(self: WorkersAI, connection: Connection, *arguments: Any, **named: Any) -> None:
        make(self, replace(connection, first_check=FIRST_CHECK), *arguments, **named)

    put(WorkersAI, "__init__", make_quick)
    put(runner, "_FIRST_LOOK", 0.01)
    put(requests, "MAX_TEXTS_PER_BATCH", TEXTS_PER_BATCH)


def put(owner: Any, name: str, new: object) -> None:
    """Replace an attribute of the program. An unknown name is a defect of the harness."""
    assert hasattr(owner, name), f"{owner} has no {name}"
    setattr(owner, name, new)


def wrap(
    owner: Any, name: str, *, before: Callable[..., object] = nothing, after: Callable[..., object] = nothing
) -> None:
    """Replace a function by one that calls `before` with its arguments and `after` with its result and arguments."""
    original = getattr(owner, name)

    @functools.wraps(original)
    async def wrapped_coroutine(*arguments: Any, **named: Any) -> Any:
        before(*arguments, **named)
        result = await original(*arguments, **named)
        after(result, *arguments, **named)
        return result

    @functools.wraps(original)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        before(*arguments, **named)
        result = original(*arguments, **named)
        after(result, *arguments, **named)
        return result

    put(owner, name, wrapped_coroutine if inspect.iscoroutinefunction(original) else wrapped)


def cfbatch(*arguments: object) -> Command:
    """A command of the terminal program."""
    return lambda: run_command_line([str(argument) for argument in arguments])


# A data folder

Spans = defaultdict[str, float]


def _usual_span() -> float:  # a function of the module, as spans go from one process to another
    return 0.3


def new_spans() -> Spans:
    """The seconds within which commands are killed, by their kind; they adapt to what such a command takes."""
    return Spans(_usual_span)


@dataclass(frozen=True, slots=True)
class Service:
    """A practice service in a separate process. `folder` holds its queue, with its record of accepted batches."""

    url: str
    folder: Path


@dataclass
class World:
    """`found` are the breaches that were seen here.

    `prepare` is called in every child process before the program starts: does nothing, or installs a variant.
    """

    root: Path
    service: Service
    rng: random.Random
    prepare: Prepare = nothing
    spans: Spans = field(default_factory=new_spans)
    account: str = field(default_factory=lambda: secrets.token_hex(16))
    kills: int = 0
    found: list[Finding] = field(default_factory=list)
    told_again: Counter[Key] = field(default_factory=Counter)
    owed: dict[str, Path] = field(default_factory=dict)  # by the job's name

    def __post_init__(self) -> None:
        self.paths = Paths(self.root / "data")
        self.out, self.log = self.root / "out", self.root / "child.log"
        for folder in (self.out, self.root / "tmp"):
            folder.mkdir(parents=True)

    def accepted(self, *, is_queued: bool = True) -> list[Accepted]:
        """The batches that the practice service accepted from this world, or the calls that it answered at once."""
        return [each for each in accepted(self.service.folder, is_queued=is_queued) if each.account == self.account]

    # Starting and killing

    def begin(self, command: Command, prepare: Prepare = nothing) -> int:
        """Start the program; its process id. `prepare` is called after the world's own."""

        def both() -> None:
            self.prepare()
            prepare()

        return begin_child(command, self._environ(), self.log, both)

    def start(self, command: Command, prepare: Prepare = nothing, *, kill_after: float | None = None) -> int:
        """Run the program once and possibly kill it; its exit status, below 0 when it was killed."""
        status = end_child(self.begin(command, prepare), kill_after=kill_after)
        self.kills += status < 0
        return status

    def strike(self, command: Command, kind: str = "run") -> int:
        """Run the program and kill it at random, within a time of which one run in ten ends before its kill."""
        status = self.start(command, kill_after=self.rng.uniform(0.0, self.spans[kind]))
        self.spans[kind] *= 1.01 if status < 0 else 0.92
        return status

    # Commands

    def cfbatch(self, *words: object) -> Command:
        """A command of the terminal program over this data folder."""
        return cfbatch(*words, "--data-dir", self.paths.root)

    def new_job(self, kind: Kind, *, rows: int, with_output: bool = False, at_once: bool = False) -> Command:
        """`cfbatch run` for a new input file."""
        name = f"job {len(self.owed) + 1}"
        path = write_input(self.root / f"{name}.csv", kind, self.rng, rows=rows)
        output = self.out / f"{name}.{'csv' if kind is Kind.RANK else 'npy'}"
        self.owed[name] = output if with_output else Path()
        more = [*(("--out", output) if with_output else ()), *(("--at-once",) if at_once else ())]
        more += ["--no-reuse"] if self.rng.random() < 0.5 else []
        return self.cfbatch(*command_of(path, kind, name), *more)

    def resume(self) -> Command:
        """`cfbatch resume` for all jobs."""
        return self.cfbatch("resume")

    def decision(self) -> Command | None:
        """The user's random decision about a batch with an unknown outcome; None when there is none."""
        found = [batch for job in self.jobs() for batch in job.batches if batch.state is BatchState.OUTCOME_UNKNOWN]
        if not found:
            return None
        batch = self.rng.choice(found)
        own = [each.request_id for each in self.accepted() if each.sha256 == batch.sha256]
        other = [each.request_id for each in self.accepted()] or ["00000000-0000-0000-0000-000000000000"]
        ways = (("--request-id", self.rng.choice(own or other)), ("--send-again",), ("--dismiss",))
        way = self.rng.choice(ways)
        self.told_again[batch.job_id, batch.number] += way == ("--send-again",)
        return self.cfbatch("settle", batch.job_id, batch.number, *way)

    # Looking

    def jobs(self) -> Sequence[Job]:
        """All jobs. To be called while the program does not run."""
        with closing(Ledger.open_read_only(self.paths)) as ledger:
            return ledger.jobs()

    def look(self, *, settled: bool = False) -> None:
        """Compare directly after a kill, before the program is started again."""
        answered = self.accepted(is_queued=False)
        self.found += Comparison(self.paths, self.accepted(), answered, self.told_again).run(settled=settled)

    def settle(self) -> None:
        """Start the program again, wait for its end, and compare."""
        status = self.start(self.resume())
        if status not in (0, 1, 3):
            self.found.append(Finding(Breach.STUCK, f"“cfbatch resume” ended with {status}"))
        self.look(settled=True)
        self.found += unfinished_files(self.paths.root, self.out, self.root / "tmp")
        done = {job.name for job in self.jobs() if job.batches and job.batches_done == len(job.batches)}
        missing = [path for name, path in self.owed.items() if name in done and path != Path() and not path.exists()]
        self.found += [Finding(Breach.TORN, f"{path.name} is missing though its job is done") for path in missing]

    def settle_without_ledger(self) -> None:
        """As `settle`, after deleting or damaging the ledger: accepted batches must be known from the other files."""
        self.told_again.update({(job.id, batch.number): 9 for job in self.jobs() for batch in job.batches})
        if self.rng.random() < 0.5:
            self.paths.ledger.unlink()
        else:
            self.paths.ledger.write_bytes(self.rng.randbytes(self.paths.ledger.stat().st_size))
        self.start(self.resume(), kill_after=self.rng.uniform(0, 0.1))
        self.settle()

    def _environ(self) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.root),
            "TMPDIR": str(self.root / "tmp"),
            "CLOUDFLARE_API_BASE_URL": self.service.url,
            "CLOUDFLARE_ACCOUNT_ID": self.account,
            "CLOUDFLARE_API_TOKEN": TOKEN,
        }
