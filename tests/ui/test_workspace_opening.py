"""Files named at a start or by the system, and what is on the clipboard: each begins a job."""

import os
import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.system.later_start import Request
from cfbatch_gui.core.system.paths import resource
from tests.screen.past import run
from tests.screen.stage import Stage


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
        from cfbatch_gui.ui.window.app import Application

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


CTRL = Qt.KeyboardModifier.ControlModifier
CELLS = "question\tanswer\nwhy\tbecause\nwhy\tno reason\n"
TOKEN = "cfut_practice-takes-any-token-0000000000"


async def paste(stage: Stage, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    await stage.person.press(Qt.Key.Key_V, CTRL)


async def test_cells_begin_a_job_on_the_first_page(stage: Stage) -> None:
    assert stage.person.sees("paste texts")
    await paste(stage, CELLS)
    await stage.person.until_sees("pasted.tsv", "Send 1 batch")
    assert [job.source_name for job in stage.program.ledger.jobs()] == ["pasted.tsv"]


async def test_a_file_begins_a_job_on_the_page_of_another(stage: Stage) -> None:
    await run(stage.program, "Done before", resource("examples/help-centre-ranking.csv"), Kind.RANK)
    await stage.person.click_row("Jobs", "Done before")
    await stage.person.until_sees("Export…")
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(resource("examples/product-texts.csv")))])
    QGuiApplication.clipboard().setMimeData(files)
    await stage.person.press(Qt.Key.Key_V, CTRL)
    await stage.person.until_sees("Product texts", "Each row is one text: 60 texts.")
    assert len(stage.program.ledger.jobs()) == 2


async def test_a_field_keeps_what_is_pasted_into_it(stage: Stage) -> None:
    await stage.person.type("Find a job", "help", pasted=True)
    assert stage.workspace.window.library.find_field.text() == "help"
    assert not stage.program.ledger.jobs()


async def test_a_token_goes_to_the_connection_and_into_no_file(stage: Stage, tmp_path: Path) -> None:
    await paste(stage, TOKEN)
    await stage.person.until_sees("Cloudflare", "Create a token")
    assert stage.workspace.settings.connection.cloudflare.token_block.field.text() == TOKEN
    assert not stage.program.ledger.jobs()
    assert not any(TOKEN.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
