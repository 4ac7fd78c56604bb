"""What the window says and asks about a data folder that was damaged, moved or copied."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path

import pytest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.theme import Theme
from tests.screen.past import Clock, MemoryKeyring, draft
from tests.screen.stage import Stage, opened
from tests.support.faulty_service import ThreadedService
from tests.ui.test_workspace_trouble import NAME, connected, finished

QUESTION = "Was this folder copied or restored?"
HELD = "Nothing is sent until you have said whether this data folder was copied or restored."


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[ThreadedService]:
    with ThreadedService(tmp_path / "service", clock=Clock()).opened() as faulty:
        yield faulty


async def unsent(root: Path, theme: Theme, faulty: ThreadedService, keyring: MemoryKeyring) -> None:
    """A job that could not be sent because there was no network; the network is back when this returns."""
    async with connected(root, theme, faulty, keyring) as stage:
        faulty.shut()
        await stage.person.click("Send 1 batch")
        await stage.person.until(lambda: stage.state(NAME) is JobState.PAUSED)
    faulty.follow()


def again(
    root: Path, theme: Theme, faulty: ThreadedService, keyring: MemoryKeyring
) -> AbstractAsyncContextManager[Stage]:
    """The window over a folder that has a job; a question may stand before it."""
    credentials = Credentials(keyring, {})
    return opened(root, theme, environ={"CLOUDFLARE_API_BASE_URL": faulty.url}, credentials=credentials)


async def test_a_moved_folder_asks_once_and_goes_on(tmp_path: Path, theme: Theme, faulty: ThreadedService) -> None:
    keyring = MemoryKeyring()
    await unsent(tmp_path / "data", theme, faulty, keyring)
    moved = (tmp_path / "data").rename(tmp_path / "moved")
    async with again(moved, theme, faulty, keyring) as stage:
        await stage.person.until_sees(QUESTION, "sending it again costs again")
        await stage.person.click("Not now")
        await stage.person.until_sees(HELD)
        await stage.person.click("Carry on")
        await stage.person.until(lambda: stage.state(NAME) is JobState.WAITING)
        assert stage.job(NAME).batches[0].state is BatchState.PLANNED and not faulty.accepted()
        await stage.person.click("Say what happened")
        await stage.person.click("Only moved")
        await finished(stage)
        assert not stage.person.sees(HELD)
    async with connected(moved, theme, faulty, keyring) as stage:
        assert not stage.person.sees(QUESTION)
    assert len(faulty.accepted()) == 1


async def test_a_copy_waits_for_a_word_about_each_job(tmp_path: Path, theme: Theme, faulty: ThreadedService) -> None:
    keyring = MemoryKeyring()
    await unsent(tmp_path / "data", theme, faulty, keyring)
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    async with again(tmp_path / "copy", theme, faulty, keyring) as stage:
        await stage.person.until_sees(QUESTION)
        await stage.person.click("Copied or restored")
        await stage.person.until_sees("1 job waits for your word", "This job comes from a copy")
        assert stage.state(NAME) is JobState.PAUSED and not faulty.accepted()
        await stage.person.click("Carry on")
        await finished(stage)


async def test_damaged_request_ids_are_said(tmp_path: Path, theme: Theme, faulty: ThreadedService) -> None:
    keyring = MemoryKeyring()
    async with connected(tmp_path / "data", theme, faulty, keyring) as stage:
        await stage.person.click("Send 1 batch")
        await finished(stage)
    ids = tmp_path / "data" / "submissions.jsonl"
    ids.write_bytes(ids.read_bytes().replace(b'"model"', b'"mo\xffel"', 1))
    async with connected(tmp_path / "data", theme, faulty, keyring) as stage:
        await stage.person.until_sees("One line of “submissions.jsonl”", "is damaged")
        await finished(stage)


async def test_data_of_another_version_is_said(tmp_path: Path, theme: Theme) -> None:
    data, file = tmp_path / "data", tmp_path / "texts.txt"
    file.write_text("one\ntwo\n")
    program = await Program.open(data, environ={}, credentials=Credentials(environ={}))
    await draft(program, "Texts", file, Kind.EMBED)
    await program.close()
    for path in data.glob("jobs/*/data.db"):
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA user_version = 99")
    async with opened(data, theme) as stage:
        await stage.person.until_sees("This job's data was written by another version of CF Batch")
