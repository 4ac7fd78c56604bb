"""What holds for every command: how it ends by a signal, what names it takes, what it imports."""

import signal
import sys
from pathlib import Path

import pytest

from tests.journeys.terminal import Terminal, read_until

BROKEN = "o\udcff"  # as Python shows the byte 255 of an argument or a folder
IMPORTED = """
import contextlib, sys
from cfbatch_gui.cli.main import main
with contextlib.suppress(SystemExit):
    main(sys.argv[1:])
print(*{name for name in sys.modules if "." not in name}, file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [("jobs",), ("jobs", "--json"), ("--version",), ("--help",)])
def test_small_commands_import_little(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    terminal = Terminal(tmp_path / "data")
    with terminal.start_command((sys.executable, "-c", IMPORTED), *arguments) as process:
        _, err = process.communicate(timeout=100)
    assert process.returncode == 0
    imported = set(err.splitlines()[-1].split())
    assert "cfbatch_gui" in imported
    assert imported.isdisjoint({"httpx", "numpy", "PySide6", "keyring", "starlette", "uvicorn"})


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "-", "--embed"),
        ("check", "-", "--embed"),
        ("attach", "-"),
        ("connections", "add", "worker", "--url", "https://a.example.workers.dev"),  # in the main thread
    ],
    ids=lambda each: each[0],
)
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")
def test_a_signal_ends_a_command_whatever_its_threads_wait_for(
    tmp_path: Path, arguments: tuple[str, ...], end: signal.Signals
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    terminal = Terminal(tmp_path / "data", {"TMPDIR": str(temporary)})
    with terminal.start(*arguments) as process:
        assert process.stdin is not None
        process.stdin.write("text\n" * 18_000)  # more than a pipe holds: it is being read now, and has no end
        process.stdin.flush()
        process.send_signal(end)
        status = process.wait(20)
    assert status == 128 + end
    assert list(temporary.iterdir()) == []
    assert terminal.jobs() == []


HELD = """
import sys, threading
from cfbatch_gui.cli.main import main
from cfbatch_gui.core.jobs.plan import packing

def hold(*batch, **options):
    print("held", file=sys.stderr, flush=True)
    threading.Event().wait()

packing.planned_batch = hold
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", [("check",), ("run", "--connection", "practice")], ids=lambda each: each[0])
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")
def test_a_signal_ends_planning_once_the_number_of_pairs_was_said(
    tmp_path: Path, command: tuple[str, ...], end: signal.Signals
) -> None:
    temporary, files = tmp_path / "temporary", [tmp_path / "queries.csv", tmp_path / "texts.csv"]
    temporary.mkdir()
    for file, column in zip(files, ("query", "text"), strict=True):
        file.write_text("".join(f"{line}\n" for line in (f"id,{column}", *(f"{n},{column} {n}" for n in range(350)))))
    terminal = Terminal(tmp_path / "data", {"TMPDIR": str(temporary)})
    arguments = (*command, *files, "--rank")
    with terminal.start_command((sys.executable, "-c", HELD), *arguments) as process:
        assert "122,500" in read_until(process, "^held")  # a batch is written, and it goes no further
        process.send_signal(end)
        status = process.wait(20)
    assert status == 128 + end
    assert list(temporary.iterdir()) == []
    assert terminal.jobs() == []
    assert terminal.run(*command, files[0], "--embed").status == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("--out", f"{BROKEN}.csv"),
        ("--name", BROKEN),
        ("--template", f"{BROKEN} {{text}}"),
        ("--role", f"{BROKEN}=text"),
        ("--data-dir", BROKEN),
    ],
)
def test_names_that_are_not_utf_8_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.csv").write_text("text\none\n")
    terminal = Terminal(tmp_path / "data")
    ended = terminal.run("run", "texts.csv", "--embed", "--connection", "practice", *arguments)
    assert (ended.status, ended.out) == (2, "")
    assert "o\\udcff" in ended.complaint
    assert [path.name for path in tmp_path.iterdir()] == ["texts.csv"]
