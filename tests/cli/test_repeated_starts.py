"""What docs/scheduling.md says of starts that follow each other: what is sent again, and what is not."""

from contextlib import closing
from pathlib import Path

from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from tests.cli.account_world import scores
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
