"""Starts that follow each other, as docs/scheduling.md has them; and data that was moved, damaged or is newer."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.jobs.run import submitting
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from tests.cli.account_world import scores
from tests.cli.conftest import keep_job
from tests.core.results.folders import Pair
from tests.journeys.terminal import EXAMPLE, Ended, Terminal, read_csv
from tests.support import faults
from tests.support.faulty_service import ThreadedService

# As if the network were cut when the batch is queued: the job stops, and is collected by another start.
CUT = faults.refusal(on="poll", times=0, status=401, code=10000, message="Authentication error")


def run(terminal: Terminal, *out: object) -> Ended:
    return terminal.run("run", EXAMPLE, "--rank", "--connection", "cloudflare", "--out", *out)


def test_resume_before_run_sends_nothing_twice_after_a_cut(
    connected: Terminal, service: ThreadedService, tmp_path: Path
) -> None:
    service.follow(CUT)
    cut = run(connected, tmp_path / "first.csv", "--json")
    assert (cut.status, cut.json["state"], cut.json["files"]) == (4, "paused", [])
    assert f"cfbatch resume {cut.json['job']}" in cut.err and not (tmp_path / "first.csv").exists()
    service.follow()
    assert connected.run("resume").status == 0
    assert len(read_csv(tmp_path / "first.csv")) == 82, "under the name that the cut run was given"
    again = run(connected, tmp_path / "second.csv")
    assert again.status == 0
    assert scores(tmp_path / "second.csv") == scores(tmp_path / "first.csv")
    assert len(service.accepted()) == 1


def test_a_second_start_ends_at_once_and_sends_nothing(
    connected: Terminal, service: ThreadedService, tmp_path: Path
) -> None:
    paths = Paths(connected.data)
    paths.create()
    with closing(Ledger.open(paths)):
        for ended in (run(connected, tmp_path / "ranked.csv"), connected.run("resume")):
            assert (ended.status, ended.out, ended.codes) == (1, "", {"cf_batch_is_already_work_data"})
        for reads in (("jobs",), ("verify",), ("check", EXAMPLE, "--rank"), ("connections",)):
            assert connected.run(*reads).status == 0
    assert service.accepted() == []
    assert run(connected, tmp_path / "ranked.csv").status == 0


def test_a_file_that_could_not_be_written_is_written_by_the_next_resume(
    connected: Terminal, service: ThreadedService, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    service.follow(CUT)
    assert run(connected, folder / "ranked.csv").status == 4
    service.follow()
    folder.rmdir()
    one = ("resume", connected.jobs()[0]["job"], "--json")
    for ended in (connected.run(*one), connected.run(*one)):
        assert (ended.status, ended.json["state"], ended.json["files"]) == (1, "done", [])
    assert connected.run("resume").status == 1
    folder.mkdir()
    assert connected.run("resume").status == 0
    assert len(read_csv(folder / "ranked.csv")) == 82
    assert connected.run("resume", "--json").json == {"jobs": []}


@pytest.fixture
def url(service: ThreadedService) -> str:
    return service.url


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the seconds between tries to reach the service."""
    monkeypatch.setattr(submitting, "FIRST_WAIT", 0.01)


def connected(data: Path, url: str) -> Terminal:
    found = Terminal(data)
    found.connect(url)
    return found


def unsent(data: Path) -> None:
    """A job that could not be sent, because nobody listens."""
    ended = connected(data, "http://127.0.0.1:9").run("run", EXAMPLE, "--rank", "--connection", "cloudflare")
    assert ended.status == 4, ended.err


def test_a_moved_folder_is_asked_about_and_goes_on(tmp_path: Path, url: str) -> None:
    unsent(tmp_path / "data")
    moved = (tmp_path / "data").rename(tmp_path / "moved")
    held = connected(moved, url).run("resume")
    assert held.status == 1 and "--folder-was moved" in held.err
    refused = connected(moved, url).run("run", EXAMPLE, "--rank", "--connection", "cloudflare")
    assert refused.status == 2 and "--folder-was moved" in refused.err
    ended = connected(moved, url).run("resume", "--folder-was", "moved")
    assert ended.status == 0 and [job["state"] for job in connected(moved, url).jobs()] == ["done"], ended.err
    assert "--folder-was moved" not in connected(moved, url).run("resume").err


def test_a_copy_sends_only_the_job_that_is_named(tmp_path: Path, url: str) -> None:
    unsent(tmp_path / "data")
    copy = (tmp_path / "data").rename(tmp_path / "copy")
    answered = connected(copy, url).run("resume", "--folder-was", "copied")
    assert answered.status == 1 and "“cfbatch resume " in answered.err
    again = connected(copy, url).run("resume")
    assert again.status == 1 and "--folder-was moved" not in again.err and "“cfbatch resume " in again.err
    (line,) = connected(copy, url).run("jobs").out.splitlines()[1:]
    assert connected(copy, url).run("resume", line.split()[0]).status == 0


@pytest.mark.parametrize("harm", ["gone", "empty", "damaged"])
def test_a_list_of_jobs_that_is_lost_is_put_together_by_what_reads_it(tmp_path: Path, url: str, harm: str) -> None:
    done = connected(tmp_path / "data", url)
    assert done.run("run", EXAMPLE, "--rank", "--connection", "cloudflare").status == 0
    (job,) = done.jobs()
    ledger = tmp_path / "data" / "ledger.db"
    for reads in (("jobs",), ("jobs", "--json"), ("show", job["job"]), ("verify",), ("check", EXAMPLE, "--rank")):
        ledger.unlink()
        if harm != "gone":
            ledger.write_bytes(b"garbage" * 999 if harm == "damaged" else b"")
        ended = done.run(*reads)
        assert ended.status == 0 and ended.err, "it is said, once"
        (again,) = done.jobs()
        assert again["job"] == job["job"] and again["batches"][0]["request_id"] == job["batches"][0]["request_id"]
    assert done.run("jobs").err == ""
    assert done.run("resume").status == 0 and done.jobs() == [job]


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
def test_data_of_another_version_is_refused_unharmed(
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
