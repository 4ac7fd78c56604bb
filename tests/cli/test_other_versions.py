"""Data of another version is refused unharmed, with a sentence that says where it lies."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.system.paths import Paths
from tests.cli.conftest import Run, keep_job
from tests.core.results.folders import Pair

OTHER = "another version of CF Batch"


@pytest.mark.parametrize(
    ("database", "command", "sentence"),
    [
        ("ledger.db", ("jobs",), OTHER),
        ("ledger.db", ("resume",), OTHER),
        ("jobs/one/data.db", ("show", "one"), f"This job's data was written by {OTHER}"),
        ("jobs/one/data.db", ("export", "one", "--out", "out.csv"), f"This job's data was written by {OTHER}"),
        ("judgements/*.db", ("judgements", "import", "judged.csv"), "written by a newer version of CF Batch. Update"),
    ],
)
def test_it_is_refused(
    run: Run,
    paths: Paths,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    database: str,
    command: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    keep_job(paths, "one", [Pair("red", "apple", 0.5), Pair("red", "leaf", 0.4)])
    Path("judged.csv").write_text("query,text,grade\nq,t,1\n")
    assert run("judgements", "import", "judged.csv")[0] == 0
    (path,) = paths.root.glob(database)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 99")
        if database == "ledger.db":  # which says it twice
            other.execute("PRAGMA application_id = 99")
    before = path.read_bytes()
    status, _, err = run(*command)
    assert status and sentence in err
    assert database.startswith("judgements") or f"“{path.parent}”" in err
    assert path.read_bytes() == before and not Path("out.csv").exists()
