"""A window with a Worker that has a collecting room, before a service whose batches end when a test says so."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cfbatch_gui.ui.theme import Theme
from tests.screen.stage import Stage
from tests.screen.worker_stage import WorkerStage, on_stage, served
from tests.ui.conftest import Until


@pytest.fixture
async def worker(tmp_path: Path) -> AsyncIterator[WorkerStage]:
    async with served(tmp_path / "service") as worker:
        yield worker


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme, worker: WorkerStage, until: Until) -> AsyncIterator[Stage]:
    async with on_stage(tmp_path / "data", theme, worker) as stage:
        yield stage
        await until(lambda: not stage.workspace.tasks.is_running("connection"))
