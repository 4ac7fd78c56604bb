"""Data of another version is refused unharmed, with a sentence that says where it lies."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.system.paths import Paths
from tests.cli.conftest import keep_job
from tests.core.results.folders import Pair
from tests.journeys.terminal import Terminal


@pytest.mark.parametrize(
    ("database", "command", "code"),
    [
        ("ledger.db", ("jobs",), "your_jobs_were_written_another_version"),
        ("ledger.db", ("resume",), "your_jobs_were_written_another_version"),
        ("jobs/one/data.db", ("show", "one"), "job_data_was_written_another_version"),
        ("jobs/one/data.db", ("export", "one", "--out", "out.csv"), "job_data_was_written_another_version"),
        ("judgements.db", ("judgements", "import", "judged.csv"), "book_judgements_was_written_newer_version"),
    ],
)
def test_it_is_refused(
    terminal: Terminal,
    paths: Paths,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    database: str,
    command: tuple[str, ...],
    code: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    keep_job(paths, "one", [Pair("red", "apple", 0.5), Pair("red", "leaf", 0.4)])
    Path("judged.csv").write_text("query,text,grade\nq,t,1\n")
    assert terminal.run("judgements", "import", "judged.csv").status == 0
    (path,) = paths.root.glob(database)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 99")
        if database == "ledger.db":  # which says it twice
            other.execute("PRAGMA application_id = 99")
    before = path.read_bytes()
    ended = terminal.run(*command)
    assert ended.status and code in ended.codes
    assert database.startswith("judgements") or str(path.parent) in ended.err
    assert path.read_bytes() == before and not Path("out.csv").exists()
