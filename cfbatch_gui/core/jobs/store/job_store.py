"""What sending and watching stand on; the runner is it."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Batch, Job
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai.client import WorkersAI

T = TypeVar("T")


class Desk(Protocol):
    """The stores, the clients, and the two ways to change a batch: `save` for state, `show_batch` for what is none."""

    @property
    def paths(self) -> Paths:
        """The places of the program's own folder."""

    def folder(self, job_id: str) -> JobFolder:
        """The folder of a job."""

    def job(self, job_id: str) -> Job:
        """A job as it is now."""

    def client(self, job: Job) -> WorkersAI:
        """The client of the job's own connection."""

    def make_room(self) -> bool:
        """On a full disk: give up the ballast. False when there is none left to give."""

    async def on_disk(self, function: Callable[..., T], *arguments: object) -> T:
        """Run something that writes the ledger or the submissions file."""

    async def save(self, batch: Batch, **job_changes: object) -> Job:
        """Commit a batch, then show it."""

    def show_batch(self, batch: Batch) -> None:
        """Show times of checks, which are no state."""

    async def stop_connection(self, connection: str, error: UserError) -> None:
        """Pause every job of a connection whose token was refused."""

    async def stop_with(self, job_id: str, error: UserError) -> None:
        """Pause a job because of an error that only the user can mend."""
