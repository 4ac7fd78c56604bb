"""Data of another version is refused unharmed, with a sentence that says where it lies."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.main import main
from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.program import Program
from tests.screen.past import run


async def program_of(root: Path) -> Program:
    return await Program.open(root, environ={}, credentials=Credentials(environ={}), practice_times=(0.0, 0.0))


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    """A data folder with a finished job."""
    file = tmp_path / "texts.csv"
    file.write_text("text\none\ntwo\n")
    program = await program_of(tmp_path / "data")
    await run(program, "Texts", file, Kind.EMBED)
    await program.close()
    return tmp_path / "data"


def cfbatch(capsys: pytest.CaptureFixture[str], data: Path, *arguments: object) -> tuple[int, str]:
    status = main([*map(str, arguments), "--data-dir", str(data)])
    return status, capsys.readouterr().err


def other_database(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")
        if path.name == "ledger.db":
            database.execute("UPDATE metadata SET value = 99 WHERE name = 'version'")
            database.commit()
    return path.read_bytes()


async def test_the_ledger(data: Path) -> None:
    other = other_database(data / "ledger.db")
    with pytest.raises(DataError) as refused:  # which the window shows instead of opening
        await program_of(data)
    assert f"They are in “{data}”." in refused.value.message
    assert (data / "ledger.db").read_bytes() == other


@pytest.mark.parametrize("command", [("jobs",), ("resume",)])
def test_the_ledger_in_the_terminal(data: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]) -> None:
    other = other_database(data / "ledger.db")
    status, said = cfbatch(capsys, data, *command)
    assert status is ExitStatus.FAILED and "another version of CF Batch" in said and f"They are in “{data}”." in said
    assert (data / "ledger.db").read_bytes() == other


def test_the_data_of_a_job(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = data.glob("jobs/*/data.db")
    other = other_database(path)
    for command in (("show", path.parent.name), ("export", path.parent.name, "--out", tmp_path / "out.csv")):
        status, said = cfbatch(capsys, data, *command)
        assert "This job's data was written by another version of CF Batch" in said and f"“{path.parent}”" in said
        assert status
    assert path.read_bytes() == other and not (tmp_path / "out.csv").exists()


def test_a_book_of_judgements(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "judged.csv"
    file.write_text("query,text,grade\nq,t,1\n")
    assert not cfbatch(capsys, data, "judgements", "import", file)[0]
    (path,) = data.glob("judgements/*.db")
    other = other_database(path)
    status, said = cfbatch(capsys, data, "judgements", "import", file)
    assert "This book of judgements was written by a newer version of CF Batch. Update to open it" in said and status
    assert path.read_bytes() == other
