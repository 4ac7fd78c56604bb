"""A token stays in the process that was given it: no core dump, and no other process's environment."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from cfbatch_gui.core.system.processes import take_secrets, without_secrets
from tests.canary import OTHER_TOKEN, TOKEN
from tests.journeys.terminal import ACCOUNT, ROOT, Terminal, connected, own_environ, run_well, until

linux = pytest.mark.skipif(sys.platform != "linux", reason="core dumps and /proc of Linux")

# Run by every Python that is started: whether it was given a token, not which.
WITNESS = """
import os, pathlib, sys
held = sorted(name for name, value in os.environ.items() if os.environ["CANARY_CORE"] in value)
with open(os.environ["WITNESS"], "a") as record:
    record.write(f"{os.getpid()} {' '.join(held)}\\n")
"""


def test_the_environment_for_others_has_no_secret() -> None:
    given = {
        "CLOUDFLARE_API_TOKEN": TOKEN,
        "CFBATCH_SECRET_OUR_WORKER": OTHER_TOKEN,
        "CFBATCH_PRACTICE_TOKEN": "1",
        "HEADER": f"Authorization: Bearer {TOKEN}",
        "PATH": "/bin",
        "DISPLAY": ":1",
        "CLOUDFLARE_ACCOUNT_ID": ACCOUNT,
    }
    kept = {"PATH": "/bin", "DISPLAY": ":1", "CLOUDFLARE_ACCOUNT_ID": ACCOUNT}
    assert without_secrets(given) == kept
    mine = dict(given)
    assert take_secrets(mine) == given
    assert mine == kept


def test_the_process_that_decodes_parquet_has_no_token(tmp_path: Path) -> None:
    arro3 = pytest.importorskip("arro3.core")
    from arro3.io import write_parquet

    table = arro3.Table.from_pydict({"text": arro3.Array(["one", "two"], arro3.DataType.utf8())})
    write_parquet(table, tmp_path / "texts.parquet")
    (tmp_path / "sitecustomize.py").write_text(WITNESS)
    record = tmp_path / "record"
    terminal = Terminal(tmp_path / "data")
    terminal.connect("http://127.0.0.1:9/client/v4")
    terminal.environ |= {
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
        "WITNESS": str(record),
        "CANARY_CORE": TOKEN[8:20],
        "MY_HEADER": f"Bearer {TOKEN}",
    }
    ended = terminal.run_apart("check", tmp_path / "texts.parquet", "--embed")
    assert ended.status == 0, ended.err
    own, *others = (line.split()[1:] for line in record.read_text().splitlines())
    assert {"CLOUDFLARE_API_TOKEN", "MY_HEADER"} <= set(own)
    assert others and all(held == ["CANARY_CORE"] for held in others)


@linux
def test_what_the_window_opens_has_no_token(tmp_path: Path) -> None:
    """A browser, by the way that Qt takes on a desktop; the browser is a script that looks at its environment."""
    if not os.environ.get("DISPLAY"):
        pytest.skip("needs an X screen: scripts/with-screen.sh")
    record = tmp_path / "record"
    browser = tmp_path / "xdg-open"
    looks = f'env | grep -c "$CANARY_CORE" >{record}.new\necho "$HOME" >>{record}.new\nmv {record}.new {record}\n'
    browser.write_text(f"#!/bin/sh\n{looks}")
    browser.chmod(0o755)
    program = (
        "import sys\n"
        "from PySide6.QtCore import QTimer, QUrl\n"
        "from PySide6.QtGui import QDesktopServices\n"
        "from cfbatch_gui import __main__\n"
        "from cfbatch_gui.ui.window import app\n"
        "def opened(start, environ):\n"
        "    from PySide6.QtWidgets import QApplication\n"
        "    keep = QApplication(['cfbatch'])\n"
        "    assert environ['CLOUDFLARE_API_TOKEN']\n"
        "    return 0 if QDesktopServices.openUrl(QUrl('https://example.org/')) else 1\n"
        "app.open_window = opened\n"
        "sys.exit(__main__.main([]))\n"
    )
    given = own_environ(tmp_path, DISPLAY=os.environ["DISPLAY"], QT_QPA_PLATFORM="xcb", CANARY_CORE=TOKEN[8:20])
    given |= {"PATH": f"{tmp_path}{os.pathsep}{given['PATH']}", "BROWSER": str(browser)} | connected("")
    run_well(sys.executable, "-c", program, environ=given)
    until(record.exists)
    assert record.read_text().split("\n")[:2] == ["1", str(tmp_path)], "CANARY_CORE alone"


def most_of_a_core(command: Sequence[str], data: Path) -> str:
    """How many bytes of a core dump it allows once it has opened its data folder, where the user has allowed all."""
    allowed = ("sh", "-c", 'ulimit -c "$(ulimit -H -c)" && exec "$@"', "sh", *command)
    environ = own_environ(data.parent, QT_QPA_PLATFORM="offscreen") | connected("https://127.0.0.1:9/client/v4")
    with subprocess.Popen(allowed, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until(lambda: (data / "ledger.db").exists() or process.poll() is not None)
        limits = Path(f"/proc/{process.pid}/limits").read_text()
        process.kill()
    return limits.partition("Max core file size")[2].split()[0]


@linux
def test_the_window_and_the_terminal_leave_no_core_dump(tmp_path: Path) -> None:
    pytest.importorskip("PySide6")
    (tmp_path / "clouds.csv").write_text("query,text\na,b\n")
    for name, *words in (("cfbatch_gui",), ("cfbatch_gui.cli.main", "run", str(tmp_path / "clouds.csv"), "--rank")):
        command = [sys.executable, "-m", name, *words, "--data-dir", str(tmp_path / name)]
        assert most_of_a_core(command, tmp_path / name) == "0", name


@linux
def test_a_process_is_not_dumpable_and_its_children_are() -> None:
    program = (
        "import ctypes, resource, subprocess, sys\n"
        "from cfbatch_gui.core.system.processes import forbid_core_dumps\n"
        "forbid_core_dumps()\n"
        "c = ctypes.CDLL(None)\n"
        "ask = 'import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))'\n"
        "print(c.prctl(3, 0, 0, 0, 0), resource.getrlimit(resource.RLIMIT_CORE)[0], flush=True)\n"
        "subprocess.run([sys.executable, '-c', ask], check=True)\n"
    )
    assert run_well(sys.executable, "-c", program, environ=os.environ).split() == ["0", "0", "1"]
