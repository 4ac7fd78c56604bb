"""The settings: what a file of them means, and what a program at work changes at once and saves in order."""

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import Budget, FolderUse, RememberedFolder, Settings, SettingsStore


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"theme": 3}', b'{"table_layouts": {"a": 1}}'])
def test_a_damaged_file_is_said_and_kept_and_means_the_defaults(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    assert Settings.load(path) == Settings() and path.exists()
    with ThreadPoolExecutor(1) as disk:
        store = SettingsStore(path, disk)
        store.change(theme="dark")
    (kept,) = tmp_path.glob("settings.damaged-*")
    assert kept.name in store.damage and kept.read_bytes() == content
    with ThreadPoolExecutor(1) as disk:
        again = SettingsStore(path, disk)
    assert again.damage == "" and again.current.theme == "dark"


def test_by_kind_then_the_last_one_then_none(tmp_path: Path) -> None:
    pictures, exports = tmp_path / "pictures", tmp_path / "exports"
    pictures.mkdir()
    exports.mkdir()
    file = tmp_path / "settings.json"
    with ThreadPoolExecutor(1) as disk:
        store = SettingsStore(file, disk)
        of_pictures, of_exports, of_backups = (
            RememberedFolder(store, use) for use in (FolderUse.PICTURES, FolderUse.EXPORTS, FolderUse.BACKUPS)
        )
        assert [of_pictures.path] == [None], "nothing was saved yet"
        of_pictures.keep(pictures)
        assert of_exports.path == pictures, "the last one of any kind"
        of_exports.keep(exports)
        found = [each.path for each in (of_pictures, of_exports, of_backups)]
        assert found == [pictures, exports, exports]
        pictures.rmdir()
        assert of_pictures.path == exports
        exports.rmdir()
        assert [of_pictures.path] == [None]
    assert Settings.load(file).folders == {"pictures": str(pictures), "exports": str(exports)}


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    opened = await Program.open(tmp_path, environ={}, credentials=Credentials(environ={}))
    yield opened
    await opened.close()


async def test_changes_that_cross_count_at_once_and_are_all_kept_by_a_close(tmp_path: Path) -> None:
    program = await Program.open(tmp_path, environ={}, credentials=Credentials(environ={}))
    free, budget = threading.Event(), Budget(a_job=1.0)
    in_front = asyncio.ensure_future(program.store.on_disk(free.wait))  # the disk is busy
    keeping = [asyncio.ensure_future(program.keep_settings(theme="dark"))]
    keeping.append(asyncio.ensure_future(program.keep_settings(budget=budget)))
    await asyncio.sleep(0)  # the loop goes on
    program.change_settings(last_folder="/data")
    whole = Settings(theme="dark", budget=budget, last_folder="/data")
    assert program.settings == whole and not keeping[0].done()
    assert not program.paths.settings.exists(), "the loop's thread wrote"
    keeping[0].cancel()  # a page that closes does not lose what it was saving
    closing = asyncio.ensure_future(program.close())
    free.set()
    await asyncio.gather(in_front, keeping[1], closing)
    assert Settings.load(program.paths.settings) == whole
    program.change_settings(theme="light")
    assert Settings.load(program.paths.settings) == whole, "what comes after the end is too late"


async def test_a_change_that_cannot_be_saved_is_logged_and_counts(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    program.paths.settings.mkdir()
    program.change_settings(theme="dark")
    await program.store.on_disk(lambda: None)
    assert program.settings.theme == "dark" and "The settings were not saved" in caplog.text
