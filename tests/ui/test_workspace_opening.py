"""Files that are named at a start, by a later start, or by the system: each opens in a job of its own."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cfbatch_gui.core.system.later_start import Request
from cfbatch_gui.ui.theme import Theme
from tests.screen.stage import Stage, opened


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme) -> AsyncIterator[Stage]:
    async with opened(tmp_path / "data", theme) as stage:
        yield stage


def file(folder: Path, name: str, *texts: str) -> str:
    path = folder / name
    path.write_text("query,text\n" + "".join(f"clouds,{text}\n" for text in texts), encoding="utf-8")
    return str(path)


def names(stage: Stage) -> list[str]:
    return sorted(job.name for job in stage.program.ledger.jobs())


async def test_each_file_opens_in_a_job_of_its_own_and_the_last_is_shown(stage: Stage, tmp_path: Path) -> None:
    folder = tmp_path / "Articles"
    folder.mkdir()
    (folder / "one.txt").write_text("an orange cloud\n")
    await stage.workspace.take(
        Request((file(tmp_path, "first.csv", "a red one"), str(folder), file(tmp_path, "last.csv", "a white one")))
    )
    await stage.person.until_sees("a white one", "last.csv")
    await stage.person.until(lambda: names(stage) == ["Articles", "First", "Last"])
    await stage.person.click_row("Jobs", "First")
    await stage.person.until_sees("a red one")


async def test_what_cannot_be_opened_is_said_and_keeps_nothing_from_opening(stage: Stage, tmp_path: Path) -> None:
    latin = str(tmp_path / os.fsdecode(b"latin-\xe4.csv"))
    missing, elsewhere = str(tmp_path / "missing.csv"), "file://elsewhere/there.csv"
    stage.workspace.open_each((latin, file(tmp_path, "one.csv", "red"), missing, elsewhere))
    stage.workspace.open_each((file(tmp_path, "two.csv", "blue"),))  # while those are being opened
    await stage.person.until(lambda: names(stage) == ["One", "Two"])
    said = " ".join(each.text for each in stage.workspace.window.notices.past())
    for words in ("“latin-?.csv”", "no file missing.csv", "on another computer, “elsewhere”"):
        assert words in said


async def test_too_many_files_are_said_and_none_is_opened(stage: Stage, tmp_path: Path) -> None:
    stage.workspace.open_each([file(tmp_path, f"{number}.csv", "red") for number in range(21)])
    assert stage.person.sees("21 files are too many to open at once, with a job for each; at most 20 are.")
    stage.workspace.open_each([file(tmp_path, "one.csv", "red")])
    await stage.person.until(lambda: names(stage) == ["One"])


def test_files_that_the_system_names_come_to_whoever_asks_also_those_that_came_before() -> None:
    """An application of its own: macOS sends it the event that is sent here."""
    script = """
        from PySide6.QtCore import QUrl
        from PySide6.QtGui import QFileOpenEvent
        from cfbatch_gui.ui.window.application import Application

        app, taken = Application(["cfbatch-gui"]), []
        app.sendEvent(app, QFileOpenEvent("/home/x/100 % Käse.csv"))
        app.sendEvent(app, QFileOpenEvent(QUrl.fromLocalFile("/home/x/two.csv")))
        app.give_files_to(taken.append)
        app.sendEvent(app, QFileOpenEvent("/home/x/three.csv"))
        app.sendEvent(app, QFileOpenEvent(QUrl("mailto:x@example.org")))
        assert taken == [["/home/x/100 % Käse.csv", "/home/x/two.csv"], ["/home/x/three.csv"]], taken
    """
    lines = "\n".join(line.strip() for line in script.splitlines())
    command = [sys.executable, "-c", lines]
    done = subprocess.run(
        command, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
