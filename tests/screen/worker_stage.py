"""A window whose jobs go through a Worker of the user's own, with a collecting room."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.practice.faults.faulty_service import FaultyService
from cfbatch_gui.core.practice.routes import PREFIX
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.ui.theme import Theme
from tests.core.endpoints import conftest as stand_ins
from tests.core.endpoints.collecting_room import CollectingRoom
from tests.screen.past import MemoryKeyring, draft
from tests.screen.stage import Stage, opened


@dataclass
class WorkerStage:
    """`room` is the account behind the Worker at `address`, `service` its socket."""

    room: CollectingRoom
    service: FaultyService
    address: str
    connection_id: str = ""

    async def connect(self, program: Program, *, name: str = "My Worker", collects: bool = True) -> str:
        """Add the Worker to a program, for new jobs; its id."""
        record = SavedConnection("", name, "worker", url=self.address, collects=collects)
        self.connection_id = (await program.connections.save(record, secret=stand_ins.SECRET)).id
        await program.keep_settings(connection=self.connection_id)
        return self.connection_id

    async def send(self, program: Program, name: str, path: Path, kind: Kind) -> Job:
        """Send a file through the Worker."""
        job = await draft(program, name, path, kind, self.connection_id)
        await program.actions.send(job.id)
        return program.ledger.job(job.id)


@asynccontextmanager
async def served(folder: Path, *, clock: Callable[[], float] | None = None) -> AsyncIterator[WorkerStage]:
    """The Worker on a port, with the practice service behind it."""
    behind = stand_ins.service(folder)
    room = CollectingRoom(behind, clock=clock) if clock is not None else CollectingRoom(behind)
    async with FaultyService(room.application) as service:
        yield WorkerStage(room, service, service.url.removesuffix(PREFIX))
        room.gives.set()


@asynccontextmanager
async def on_stage(root: Path, theme: Theme, worker: WorkerStage) -> AsyncIterator[Stage]:
    """A window over a data folder, connected to the Worker the first time."""
    async with opened(root, theme, environ={}, credentials=Credentials(MemoryKeyring(), {})) as stage:
        await worker.connect(stage.program)
        yield stage
