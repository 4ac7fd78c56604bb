"""A window whose jobs go through a Worker of the user's own, with a collecting room."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.practice.app import PREFIX, practice_app
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.ui.theme import Theme
from tests.core.endpoints import conftest as stand_ins
from tests.core.endpoints.conftest import CollectingRoom
from tests.screen.past import Clock, draft
from tests.screen.stage import Stage, opened
from tests.support.faulty_service import FaultyService
from tests.support.keyrings import MemoryKeyring

_LONG = 86_400.0  # seconds; until then no batch is done, however busy this computer is


@dataclass
class WorkerStage:
    """`room` is the account behind the Worker at `address`, `service` its socket. Batches wait until they `finish`."""

    room: CollectingRoom
    service: FaultyService
    address: str
    clock: Clock
    connection_id: str = ""

    def finish(self) -> None:
        """Let the service be done with every batch that it has."""
        self.clock.offset += 2 * _LONG

    async def connect(
        self, program: Program, *, name: str = "My Worker", collects: bool = True, for_new_jobs: bool = True
    ) -> str:
        """Add the Worker to a program, or say where it is now; its id."""
        known = next((each for each in program.address_book.saved() if each.name == name), None)
        record = known or SavedConnection("", name, "worker", collects=collects)
        record = replace(record, url=self.address)
        self.connection_id = (await program.connections.save(record, secret=stand_ins.SECRET)).id
        if for_new_jobs:
            await program.keep_settings(connection=self.connection_id)
        return self.connection_id

    async def send(self, program: Program, name: str, path: Path, kind: Kind) -> Job:
        """Send a file through the Worker."""
        job = await draft(program, name, path, kind, self.connection_id)
        await program.actions.send(job.id)
        return program.ledger.job(job.id)


@asynccontextmanager
async def served(folder: Path, *, told_time: Callable[[], float] = time.time) -> AsyncIterator[WorkerStage]:
    """The Worker on a port, with the practice service behind it; `told_time` is what the account says it is."""
    clock = Clock()
    behind = practice_app(
        folder,
        seconds_queued=_LONG / 2,
        seconds_running=_LONG / 2,
        token=stand_ins.TOKEN,
        clock=clock,
        load_model=HashedNgrams,
    )
    room = CollectingRoom(behind, clock=told_time)
    async with FaultyService(room.application) as service:
        yield WorkerStage(room, service, service.url.removesuffix(PREFIX), clock)
        room.gives.set()


@asynccontextmanager
async def on_stage(
    root: Path, theme: Theme, worker: WorkerStage, *, clock: Callable[[], float] = time.time, is_connected: bool = True
) -> AsyncIterator[Stage]:
    """A window over a data folder, perhaps connected to the Worker."""
    credentials = Credentials(MemoryKeyring(), {})
    async with opened(root, theme, environ={}, credentials=credentials, clock=clock) as stage:
        if is_connected:
            await worker.connect(stage.program)
        yield stage
