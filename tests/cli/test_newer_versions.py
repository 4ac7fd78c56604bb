"""A file of a newer version is refused, or used as far as it is known, with a sentence; nothing of it is lost."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.main import main
from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Mapping, Role
from cfbatch_gui.core.inputs.recipes import Recipe
from cfbatch_gui.core.program import Program
from tests.core.test_layouts import NEWEST, program_of, unpacked


@pytest.fixture
def data(tmp_path: Path) -> Path:
    data = unpacked(NEWEST, tmp_path / "data")
    settings = data / "settings.json"
    settings.write_text(settings.read_text().replace('"language": "de"', '"language": "en"'))
    return data


def cfbatch(capsys: pytest.CaptureFixture[str], data: Path, *arguments: object) -> tuple[int, str]:
    status = main([*map(str, arguments), "--data-dir", str(data)])
    return status, capsys.readouterr().err


def newer_database(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")
        if path.name == "ledger.db":
            database.execute("UPDATE metadata SET value = 99 WHERE name = 'version'")
            database.commit()
    return path.read_bytes()


def newer_json(path: Path) -> bytes:
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 99, "wonder": {"of": "tomorrow"}}))
    return path.read_bytes()


@pytest.mark.parametrize("command", [("jobs",), ("resume",)])
def test_the_ledger_in_the_terminal(data: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]) -> None:
    newer = newer_database(data / "ledger.db")
    assert cfbatch(capsys, data, *command) == (
        ExitStatus.FAILED,
        "cfbatch: Your jobs were written by a newer version of CF Batch. Update to open them; nothing was changed.\n",
    )
    assert (data / "ledger.db").read_bytes() == newer


def test_the_data_of_a_job(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path, *_) = data.glob("jobs/*/vectors.npy")
    newer = newer_database(path.with_name("data.db"))
    for command in (("show", path.parent.name), ("export", path.parent.name, "--out", tmp_path / "out.csv")):
        status, said = cfbatch(capsys, data, *command)
        assert "This job was made by a newer version of the program. Update to open it." in said and status
    assert path.with_name("data.db").read_bytes() == newer and not (tmp_path / "out.csv").exists()


def test_a_book_of_judgements(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = data.glob("judgements/*.db")
    newer = newer_database(path)
    file = tmp_path / "judged.csv"
    file.write_text("query,text,grade\nq,t,1\n")
    status, said = cfbatch(capsys, data, "judgements", "import", file)
    assert "This book of judgements was written by a newer version of CF Batch. Update to open it" in said and status
    assert path.read_bytes() == newer


def test_the_settings_in_the_terminal(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    newer_json(data / "settings.json")
    for _ in range(2):
        status, said = cfbatch(capsys, data, "resume")
        assert "written by a newer version of CF Batch" in said and "“settings.newer-1.json”" in said
        assert not status
    assert {path.name for path in data.glob("settings.*")} == {"settings.json", "settings.newer-1.json"}


def test_a_recipe_that_is_asked_for(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    newer_json(data / "recipes.json")
    file = tmp_path / "a.csv"
    file.write_text("id,question,answer\na,b,c\n")
    status, said = cfbatch(capsys, data, "check", file, "--rank", "--recipe", "Support questions")
    assert "Your recipes were written by a newer version of CF Batch" in said and "“recipes.newer-1.json”" in said
    assert status


async def test_what_is_changed_by_this_version_leaves_the_newer_files_beside(data: Path) -> None:
    newer = {name: newer_json(data / f"{name}.json") for name in ("settings", "recipes", "calibration")}
    program: Program = await program_of(data)
    try:
        said = (*program.damage, *await program.check_last_written())
        assert ["settings" in said[0], "recipes" in said[1], len(said)] == [True, True, 2], "the rest is learned again"
        assert program.settings.theme == "dark" and program.settings.judge == "Ana"
        await program.keep_settings(theme="light")
        program.recipes.save(Recipe("new", ("a",), Mapping(Kind.EMBED, Layout.TEXTS, (Role.TEXT,))))
    finally:
        await program.close()
    for name in ("settings", "recipes"):
        assert (data / f"{name}.newer-1.json").read_bytes() == newer[name] != (data / f"{name}.json").read_bytes()
    assert (data / "calibration.json").read_bytes() == newer["calibration"], "nothing was learned yet"
    again = await Program.open(data, environ={}, credentials=Credentials(environ={}))
    await again.close()
    assert again.damage == () and again.settings.theme == "light"
