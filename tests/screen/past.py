"""Jobs that were run before the window opens: really run, with a clock that can be set back and moved on."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from keyring.backend import KeyringBackend

from cfbatch_gui.core.inputs.columns.suggest import suggest_mapping
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.practice.faults.faulty_service import FaultyService
from cfbatch_gui.core.practice.faults.script import AnyFault
from cfbatch_gui.core.practice.queue import accepted
from cfbatch_gui.core.program import Program


class Clock:
    """The time of day, moved by `offset` seconds; while it is `held` it stands at that moment."""

    def __init__(self) -> None:
        self.offset = 0.0
        self.held: float | None = None

    def __call__(self) -> float:
        return time.time() + self.offset if self.held is None else self.held


class MemoryKeyring(KeyringBackend):
    """A keyring that works, as a desktop has one."""

    priority = 1

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self._kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self._kept[service, username]


async def draft(program: Program, name: str, path: Path, kind: Kind, connection: str = "practice") -> Job:
    """A job that is ready to be sent."""
    job = program.drafts.create(kind, name, program.settings.model, connection)
    source = await asyncio.to_thread(open_source, path)
    mapping = suggest_mapping(source, kind, preview(source, 50))
    return await asyncio.to_thread(program.drafts.load, job.id, source, mapping)


async def run(program: Program, name: str, path: Path, kind: Kind, connection: str = "practice") -> Job:
    """A job that was sent, as far as it comes."""
    job = await draft(program, name, path, kind, connection)
    await program.actions.send(job.id)
    return await program.runner.wait(job.id)


class ThreadedService:
    """The practice service on a port, with faults that can be changed; in a thread and a loop of its own."""

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        application = practice_app(folder, seconds_queued=0.0, seconds_running=0.0, clock=clock)
        self._folder = folder
        self._faulty = FaultyService(application)
        self._loop = asyncio.new_event_loop()

    @property
    def url(self) -> str:
        """The address of the API."""
        return self._faulty.url

    def follow(self, *faults: AnyFault) -> None:
        """From now on these go wrong; none: all goes well."""
        self._in_loop(lambda: self._faulty.follow(*faults))

    def shut(self) -> None:
        """Nobody listens any more."""
        self._in_loop(self._faulty.shut)

    def accepted(self) -> list[str]:
        """The request id of every batch that the service has accepted, in order."""
        return [each.request_id for each in accepted(self._folder)]

    def _in_loop(self, do: Callable[[], None]) -> None:
        async def work() -> None:
            do()

        asyncio.run_coroutine_threadsafe(work(), self._loop).result(10)

    @contextmanager
    def opened(self) -> "Iterator[ThreadedService]":
        """Listen until the end of the block."""
        thread = threading.Thread(target=self._loop.run_forever, name="worker", daemon=True)
        thread.start()
        asyncio.run_coroutine_threadsafe(self._faulty.__aenter__(), self._loop).result(10)
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self._faulty.__aexit__(), self._loop).result(10)
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join(10)
            self._loop.close()
