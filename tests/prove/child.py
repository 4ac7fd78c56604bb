"""Runs of the program in a child process that can be killed, forked from one in which everything is imported.

The child runs the terminal program's `main`, or the calls that the window makes. Only waiting times are changed, so
that a job takes a tenth of a second, and what a step or a variant changes on purpose.
"""

import asyncio
import functools
import inspect
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from cfbatch_gui.cli.command_line import run_command_line as main
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.run import runner
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import Connection

Command = Callable[[], int]
Prepare = Callable[[], None]
Decision = Literal["adopt", "again", "dismiss"]

TEXTS_PER_BATCH = 20  # so that a file of fifty rows is three batches
FIRST_CHECK = 0.03  # seconds before the first poll of a batch
_STEP = 0.002  # seconds between two checks of a child
_CRASHED = 70  # exit status of a command that raised


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a child. `status` is its exit status, -1 when it was killed; `seconds` is its duration."""

    status: int
    was_killed: bool
    seconds: float


def nothing() -> None:
    """Leave the program as it is."""


def begin(command: Command, environ: Mapping[str, str], log: Path, prepare: Prepare = nothing) -> int:
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


def end(child: int, *, kill_after: float | None = None, patience: float = 30.0) -> Ended:
    """Wait for a child's end, or kill it after `kill_after` seconds, and in any case after `patience` seconds."""
    started = time.monotonic()
    ended = wait(child, patience if kill_after is None else kill_after)
    if ended is None:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        ended = _ended(status, started)
    return ended


def wait(child: int, seconds: float) -> Ended | None:
    """Wait for a child's end, for so many seconds; None when it is still at work then."""
    started = time.monotonic()
    due = started + seconds
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return _ended(status, started)
        if time.monotonic() >= due:
            return None
        time.sleep(min(_STEP, max(0.0, due - time.monotonic())))


def _ended(status: int, started: float) -> Ended:
    was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    return Ended(os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1, was_killed, time.monotonic() - started)


def until(is_so: Callable[[], bool], *, patience: float) -> bool:
    """Wait until a condition is true; False if it is not within `patience` seconds."""
    due = time.monotonic() + patience
    while not is_so():
        if time.monotonic() >= due:
            return False
        time.sleep(_STEP)
    return True


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
    owner: Any, name: str, *, before: Callable[..., object] | None = None, after: Callable[..., object] | None = None
) -> None:
    """Replace a function by one that calls `before` with its arguments and `after` with its result and arguments."""
    original = getattr(owner, name)

    def started(*arguments: Any, **named: Any) -> None:
        if before is not None:
            before(*arguments, **named)

    def ended(result: Any, *arguments: Any, **named: Any) -> Any:
        if after is not None:
            after(result, *arguments, **named)
        return result

    @functools.wraps(original)
    async def wrapped_coroutine(*arguments: Any, **named: Any) -> Any:
        started(*arguments, **named)
        return ended(await original(*arguments, **named), *arguments, **named)

    @functools.wraps(original)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        started(*arguments, **named)
        return ended(original(*arguments, **named), *arguments, **named)

    put(owner, name, wrapped_coroutine if inspect.iscoroutinefunction(original) else wrapped)


def cfbatch(*arguments: object) -> Command:
    """A command of the terminal program."""
    return lambda: main([str(argument) for argument in arguments])


def decide(root: Path, job_id: str, number: int, decision: Decision, request_id: str = "") -> Command:
    """The calls that the window makes when the user has decided about an unknown outcome."""
    return lambda: asyncio.run(_decide(root, job_id, number, decision, request_id))


async def _decide(root: Path, job_id: str, number: int, decision: Decision, request_id: str) -> int:
    program = await Program.open(root, environ=os.environ, patience=5)
    try:
        await program.runner.resume_all()
        match decision:
            case "adopt":
                await program.actions.adopt(job_id, number, request_id)
            case "again":
                await program.actions.send_again(job_id, number)
            case "dismiss":
                await program.actions.dismiss(job_id, number)
        await program.runner.wait(job_id)
    except UserError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    finally:
        await program.close()
    return 0
