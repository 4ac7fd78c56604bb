"""The settings of a program at work: changed at once, saved in order, and not by the loop's own thread."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import Budget, Settings


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
    in_front = asyncio.ensure_future(program.store.on_disk(free.wait))  # the disk is busy
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


async def test_who_cannot_wait_does_not_write_and_is_kept_by_a_close_at_once(tmp_path: Path) -> None:
    program = await Program.open(tmp_path, environ={}, credentials=Credentials(environ={}))
    free = threading.Event()
    in_front = asyncio.ensure_future(program.store.on_disk(free.wait))  # the disk is busy
    await asyncio.sleep(0)
    program.change_settings(last_folder="/data")
    program.change_settings(theme="dark")
    assert program.settings == Settings(theme="dark", last_folder="/data")
    assert not program.paths.settings.exists(), "the loop's thread wrote"
    closing = asyncio.ensure_future(program.close())
    free.set()
    await asyncio.gather(in_front, closing)
    assert Settings.load(program.paths.settings) == Settings(theme="dark", last_folder="/data")
    program.change_settings(theme="light")
    assert Settings.load(program.paths.settings).theme == "dark", "what comes after the end is too late"


async def test_each_change_is_saved_after_the_one_before(program: Program) -> None:
    for number in range(50):
        program.change_settings(table_layouts={"table": str(number)})
        await program.store.on_disk(lambda: None)
        assert Settings.load(program.paths.settings).table_layouts == {"table": str(number)}


async def test_a_page_that_closes_does_not_lose_what_it_was_saving(program: Program) -> None:
    free = threading.Event()
    in_front = asyncio.ensure_future(program.store.on_disk(free.wait))
    keeping = asyncio.ensure_future(program.keep_settings(theme="dark"))
    await asyncio.sleep(0)
    keeping.cancel()
    free.set()
    await in_front
    await program.store.on_disk(lambda: None)
    assert keeping.cancelled() and Settings.load(program.paths.settings).theme == "dark"


async def test_a_change_that_cannot_be_saved_is_logged_and_counts(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    program.paths.settings.mkdir()
    program.change_settings(theme="dark")
    await program.store.on_disk(lambda: None)
    assert program.settings.theme == "dark" and "The settings were not saved" in caplog.text
