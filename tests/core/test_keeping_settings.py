"""The settings of a program at work: changed at once, saved in order, and not by the loop's own thread."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cfbatch_gui.core.credentials import Credentials
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.settings import Budget, Settings


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    opened = await Program.open(tmp_path, environ={}, credentials=Credentials(environ={}))
    yield opened
    await opened.close()


async def test_changes_that_cross_are_all_kept(program: Program) -> None:
    budget = Budget(a_job=1.0)
    keeping = [program.keep_settings(theme="dark"), program.keep_settings(budget=budget)]
    await asyncio.gather(*keeping, program.keep_settings(last_folder="/data"))
    wanted = Settings(theme="dark", budget=budget, last_folder="/data")
    assert program.settings == Settings.load(program.paths.settings) == wanted


async def test_a_change_counts_before_it_is_saved(program: Program) -> None:
    free = threading.Event()
    in_front = asyncio.ensure_future(program.runner.on_disk(free.wait))  # the disk is busy
    keeping = asyncio.ensure_future(program.keep_settings(theme="dark"))
    await asyncio.sleep(0)  # the loop goes on
    assert program.settings.theme == "dark" and not keeping.done()
    assert Settings.load(program.paths.settings).theme != "dark"
    program.change_settings(last_folder="/data")
    free.set()
    await asyncio.gather(in_front, keeping)
    assert Settings.load(program.paths.settings) == Settings(theme="dark", last_folder="/data")


async def test_what_cannot_be_saved_is_said(program: Program) -> None:
    program.paths.settings.mkdir()
    with pytest.raises(UserError):
        await program.keep_settings(theme="dark")
