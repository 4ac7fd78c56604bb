"""A program, and an account at a stand-in on loopback into which it puts its Worker."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui import __version__
from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.worker_setup import Connected, Names, State, Step, TakenDown, WorkerSetup, names_of, worker_files
from cfbatch_gui.core.workers_ai.api_tokens import Token
from tests.account_service import ACCOUNT, AccountService
from tests.canary import TOKEN
from tests.support.faulty_service import FaultyService
from tests.support.keyrings import MemoryKeyring

URL = "https://cf-batch-door.anna.workers.dev"
MODULES, DATE = worker_files()


def metadata(secret: str) -> Any:
    """What is told of the Worker with its modules."""
    names = names_of()
    return {
        "main_module": "collect.js",
        "compatibility_date": DATE,
        "bindings": [
            {"type": "ai", "name": "AI"},
            {"type": "r2_bucket", "name": "BUCKET", "bucket_name": names.bucket},
            {"type": "workflow", "name": "COLLECT", "workflow_name": names.workflow, "class_name": "Collect"},
            {"type": "secret_text", "name": "SHARED_SECRET", "text": secret},
        ],
        "observability": {"enabled": False},
        "tags": ["cf-batch"],
        "annotations": {"workers/message": f"Set up by CF Batch {__version__}"},
    }


@dataclass
class Bench:
    program: Program
    account: AccountService
    faulty: FaultyService
    keyring: MemoryKeyring
    waits: list[float] = field(default_factory=list)
    shown: list[tuple[Step, State, str]] = field(default_factory=list)

    @property
    def setup(self) -> WorkerSetup:
        return WorkerSetup(self.program.connections, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def set_up(
        self, names: Names | None = None, *, may_replace: bool = False, paid_plan: bool = False
    ) -> Connected:
        return await self.setup.set_up(
            *(ACCOUNT, Token(TOKEN), names or names_of()),
            title="My Worker",
            paid_plan=paid_plan,
            may_replace=may_replace,
            show=lambda *told: self.shown.append(told),
        )

    async def take_down(self, *, keep_bucket: bool = False) -> TakenDown:
        return await self.setup.take_down(
            ACCOUNT, Token(TOKEN), names_of(), keep_bucket=keep_bucket, show=lambda *told: self.shown.append(told)
        )

    @property
    def saved(self) -> list[SavedConnection]:
        return [each for each in self.program.settings.connections if each.kind == "worker"]

    def states(self) -> dict[Step, State]:
        return {step: state for step, state, _ in self.shown}


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    account, keyring = AccountService(), MemoryKeyring()
    async with FaultyService(account) as faulty:
        environ = {"CLOUDFLARE_API_BASE_URL": faulty.url}
        program = await Program.open(tmp_path / "data", environ=environ, credentials=Credentials(keyring, environ))
        yield Bench(program, account, faulty, keyring)
        await program.close()
