"""Control codes reach no terminal, wherever they come from: one place prints, and shows them."""

import io
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui import __main__ as window
from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.main import main
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import SavedConnection, Settings
from tests.cli.conftest import keep_job
from tests.core.results.folders import Pair
from tests.journeys.terminal import Terminal

CODES = "\x1b]0;mine\x07\r\x9b2J"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
QUEUED = Batch("one", 1, BatchState.QUEUED, 1, 1, 10, request_id="r")


@pytest.fixture
def world(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job with such a name, error, query and text, a connection and a file with such names."""
    monkeypatch.chdir(tmp_path)
    keep_job(paths, "one", [Pair(f"q{CODES}", f"t{CODES}", 0.5)], title=f"job {CODES}")
    with closing(Ledger.open(paths)) as ledger:
        job = Job("two", "two", Kind.RANK, f"model {CODES}", "c", 2.0, is_sent=True)
        ledger.put(job, [replace(QUEUED, job_id="two", state=BatchState.FAILED, error=f"error {CODES}")])
    Settings(connections=(SavedConnection("c", f"name {CODES}", "worker", url="https://a.example"),)).save(
        paths.settings
    )
    Path(f"file{CODES}.csv").write_text("query,text\nwhy,because\n")


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    "arguments",
    [
        ("jobs",),
        ("show", "one"),
        ("show", "two"),
        ("resume", "two"),
        ("connections",),
        ("connections", "test", CODES),
        ("check", f"file{CODES}.csv", "--rank"),
        ("check", f"file{CODES}.csv", "--rank", "--role", f"{CODES}=text"),
        ("run", f"file{CODES}.csv", "--rank", "--connection", CODES),
        ("run", f"{CODES}.csv", "--rank"),
        ("run", f"file{CODES}.csv", "--rank", "--model", CODES),
        ("export", "one", "--out", f"out{CODES}.csv"),
        ("judgements", "show", "--book", CODES),
        ("show", CODES),
        (CODES,),
        ("jobs", CODES),
        ("run", "a.csv", "--budget", CODES),
        ("run", "a.csv", f"--{CODES}"),
    ],
    ids=lambda each: " ".join(each).replace(CODES, "…"),
)
def test_what_a_command_prints_is_obeyed_by_no_terminal(
    paths: Paths, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        main([*arguments, "--data-dir", str(paths.root)])
    finally:
        printed = capsys.readouterr()
    assert OBEYED.findall(printed.out + printed.err) == []
    assert re.search(r"\\(x|u00)1b\]0;mine", printed.out + printed.err), "argparse has a way of its own"


def test_nor_is_the_services_own_word_of_a_state() -> None:
    err = io.StringIO()
    Progress(Console(io.StringIO(), err)).follow(
        Job("one", "n", Kind.RANK, "m", "c", 0.0, batches=(replace(QUEUED, service_word=CODES),))
    )
    assert OBEYED.findall(err.getvalue()) == [] and "\\u001b]0;mine" in err.getvalue()


def test_nor_what_the_window_is_started_with(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        window.main([f"--{CODES}"])
    printed = capsys.readouterr().err
    assert OBEYED.findall(printed) == [] and "\\u001b]0;mine" in printed


def test_an_object_for_programs_stays_one(terminal: Terminal, paths: Paths) -> None:
    keep_job(paths, "one", [Pair("q", "t", 0.5)], title=f"{CODES}\x7f")
    assert terminal.jobs()[0]["name"] == f"{CODES}\x7f"
