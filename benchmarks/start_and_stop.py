"""A second start, the end with hanging threads and with jobs at work, and the waits: for a keyring, a busy service.

Starts and ends are processes of their own, the best of several turns; an end is timed from when it begins.
"""

import asyncio
import itertools
import logging
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from keyring.backend import KeyringBackend

from benchmarks.limits import Figures, best_of
from cfbatch_gui.core.connections import credentials
from cfbatch_gui.core.errors import KeyringUnavailable
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.paths import Paths
from tests.support import faults
from tests.support.faulty_service import FaultyService

if TYPE_CHECKING:
    from cfbatch_gui.ui.theme import Theme

Request = Literal["submit", "poll"]

TURNS = 3
THREADS, JOBS = 12, 5
STARTS = 7
KEYRING_LIMIT = 0.2  # seconds
RETRY_AFTER: dict[Request, float] = {"submit": 1.0, "poll": 6.0}  # seconds; polls are 5 s apart without it
ENDING = "ending"


def main(figures: Figures) -> None:
    """Every promise about an end or a wait."""
    logging.getLogger(credentials.__name__).setLevel(logging.ERROR)  # each wait for the keyring is a warning
    _second_start(figures)
    _small_commands(figures)
    ours, plain = _ends("hang", THREADS), _ends("hang", 0)
    figures.versus(f"end with {THREADS} hanging threads", ours, "without them; promised: 2 s", plain, limit=12.0)
    ours, plain = _ends("close", JOBS), _ends("close", 0)
    figures.versus(f"end with {JOBS} jobs at work", ours, "without jobs; promised: 10 s", plain, limit=8.0)
    waited = min(asyncio.run(_keyring_waits()) for _ in range(TURNS))
    figures.versus("five questions to a keyring that hangs", waited, "its time limit", KEYRING_LIMIT, limit=2.5)
    for kind, said in RETRY_AFTER.items():
        waits = [asyncio.run(_retry_waits(kind, said)) for _ in range(2)]
        title = f"{kind} again after a Retry-After"
        figures.versus(title, min(waits), "what it said", said, limit=2.5)
        figures.add("  the shortest wait", min(waits), "s", limit=said, is_least=True)


def _second_start(figures: Figures) -> None:
    """A file that is given to the window that is open, from the process's start to its end."""
    with tempfile.TemporaryDirectory() as name:
        os.environ.pop("XDG_RUNTIME_DIR", None)  # or the socket of the window would be there
        root, file = Path(name) / "data", Path(name) / "texts.csv"
        file.write_text("id,text\n1,Desk lamp of brass\n2,Garden hose\n", encoding="utf-8")
        start = [sys.executable, "-m", "cfbatch_gui", "--data-dir", str(root)]
        window = subprocess.Popen(start, stderr=subprocess.DEVNULL)
        while not Paths(root).window_socket.exists():
            if window.poll() is not None:
                raise RuntimeError("the window has ended too early")
            time.sleep(0.05)
        commands = [*start, str(file)], [sys.executable, "-c", "pass"]
        subprocess.run(commands[0], check=True)  # waits until the window can be worked with
        ours, plain = best_of(
            STARTS, *(lambda command=command: subprocess.run(command, check=True) for command in commands)
        )
        title = "second start with a file, by the clock"
        figures.versus(title, ours, "python -c pass; promised: 0.5 s", plain, limit=60.0)
        ours, plain = (min(_computing(command) for _ in range(STARTS)) for command in commands)
        figures.versus("  in computing time", ours, "python -c pass", plain, limit=50.0)
        window.terminate()
        window.wait(60)


def _small_commands(figures: Figures) -> None:
    """The computing time of commands that scripts start often, over an empty folder."""
    plain = min(_computing([sys.executable, "-c", "import argparse, sqlite3, json"]) for _ in range(STARTS))
    for argument in ("jobs", "--help", "--version"):
        with tempfile.TemporaryDirectory() as name:
            command = [sys.executable, "-m", "cfbatch_gui.cli.main", "--data-dir", name, argument]
            ours = min(_computing(command) for _ in range(STARTS))
        figures.versus(f"cfbatch {argument}, computing", ours, "import argparse, sqlite3, json", plain, limit=10.0)


def _computing(command: list[str]) -> float:
    """Seconds that the processors work for a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _ends(how: str, count: int) -> float:
    """The shortest time from the line that says that a process is ending to its end."""
    found = []
    for _ in range(TURNS):
        command = [sys.executable, "-m", "benchmarks.start_and_stop", how, str(count)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            if process.stdout.readline().strip() != ENDING:
                raise RuntimeError(f"{how} {count} ended too early")
            start = time.perf_counter()
            process.wait(60)
            found.append(time.perf_counter() - start)
    return min(found)


def end(how: str, count: int) -> None:
    """Run a window in this process and end it."""
    from PySide6.QtWidgets import QApplication

    from cfbatch_gui.ui.theme import Scheme, Theme
    from cfbatch_gui.ui.window import loop

    app = QApplication(["cfbatch"])
    theme = Theme(Scheme.LIGHT)
    theme.apply(app)
    if how == "hang":
        loop.run(app, lambda: _hang(count))
        return
    with tempfile.TemporaryDirectory() as name:
        loop.run(app, lambda: _close(Path(name), count, theme))


async def _hang(threads: int) -> None:
    """Return while calls in so many threads, or as many as the loop has, wait for ever."""
    running, begun, forever = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def hang() -> None:
        running.call_soon_threadsafe(begun.set)
        forever.wait()

    tasks = [asyncio.create_task(asyncio.to_thread(hang)) for _ in range(threads)]
    if tasks:
        await begun.wait()
    print(ENDING, flush=True)


async def _close(root: Path, jobs: int, theme: "Theme") -> None:
    """Close the window over jobs that are queued at the practice service."""
    from cfbatch_gui.ui.window.workspace import Workspace

    program = await Program.open(root, environ={}, practice_times=(3_600.0, 1.0))
    workspace = Workspace(program, theme)
    await workspace.begin((), with_example=False)
    for _ in range(jobs):
        await _send(program, root, "practice")
    print(ENDING, flush=True)
    await workspace.close()
    await program.close()
    workspace.window.finish()


class _HangingKeyring(KeyringBackend):
    """Answers once `answered` is set."""

    priority = 1.0
    answered: threading.Event

    def get_password(self, service: str, username: str) -> str | None:
        self.answered.wait()
        return None

    def set_password(self, service: str, username: str, password: str) -> None:
        self.answered.wait()


async def _keyring_waits() -> float:
    """How long five questions take together: only the first one may wait."""
    keyring = _HangingKeyring()  # type: ignore[no-untyped-call]
    keyring.answered = threading.Event()
    asked = credentials.Credentials(keyring, {}, time_limit=KEYRING_LIMIT)
    start = time.perf_counter()
    for connection in ("one", "one", "two", "two", "three"):
        with suppress(KeyringUnavailable):
            await asked.token(connection)
    waited = time.perf_counter() - start
    keyring.answered.set()
    return waited


async def _retry_waits(kind: Request, said: float) -> float:
    """Seconds from a 429 with a Retry-After to the next request of that kind, by the service's clock."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        service = practice_app(root / "service", seconds_queued=0, seconds_running=0)
        async with FaultyService(service) as faulty:
            faulty.follow(faults.refusal(on=kind, status=429, code=3040, retry_after=f"{said:g}"))
            environ = {
                "CLOUDFLARE_API_BASE_URL": faulty.url,
                "CLOUDFLARE_ACCOUNT_ID": "0" * 32,
                "CLOUDFLARE_API_TOKEN": "benchmark-benchmark-benchmark-benchmark-",
            }
            program = await Program.open(root / "data", environ=environ)
            try:
                job_id = await _send(program, root, "cloudflare")
                assert (await program.runner.wait(job_id)).state is JobState.DONE
            finally:
                await program.close()
            times = [arrival.at for arrival in faulty.arrivals if arrival.kind == kind]
            return next(later - earlier for earlier, later in itertools.pairwise(times))


async def _send(program: Program, root: Path, connection: str) -> str:
    """The id of a new job of two texts, which was sent."""
    path = root / "texts.csv"
    path.write_text("id,text\n1,Desk lamp of brass\n2,Garden hose\n", encoding="utf-8")
    source = open_source(path)
    mapping = suggest_mapping(source, Kind.EMBED, preview(source))
    job = program.drafts.create(Kind.EMBED, "Texts", program.settings.model, connection)
    await asyncio.to_thread(program.drafts.load, job.id, source, mapping)
    await program.actions.send(job.id)
    return job.id


if __name__ == "__main__":
    end(sys.argv[1], int(sys.argv[2]))
