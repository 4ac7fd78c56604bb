"""The search for the tests' tokens finds them, wherever and however they were written."""

import base64
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from tests import canary_search
from tests.canary import CORE, TOKEN
from tests.canary_search import Search

ROOT = Path(__file__).parents[1]

ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "UTF-16 LE": lambda text: text.encode("utf-16-le"),
    "UTF-16 BE": lambda text: text.encode("utf-16-be"),
    "base64": lambda text: base64.b64encode(text.encode()),
    "base64, two later": lambda text: base64.b64encode(b"xy" + text.encode()),
    "base64url": lambda text: base64.urlsafe_b64encode(b"~~~" + text.encode()),
    "hex": lambda text: text.encode().hex().encode(),
    "percent-encoded": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()).encode(),
    "JSON": lambda text: json.dumps({"authorization": f"Bearer {text}"}).encode(),
    "JSON-escaped": lambda text: "".join(f"\\u{ord(sign):04x}" for sign in text).encode(),
}


@pytest.fixture
def searching(monkeypatch: pytest.MonkeyPatch) -> Search:
    """A search for which nothing is on purpose."""
    monkeypatch.setattr(canary_search, "ON_PURPOSE", {})
    return Search()


def places(search: Search) -> set[str]:
    return {hit.place for hit in search.hits}


def test_a_leak_is_found_in_every_encoding(searching: Search, tmp_path: Path) -> None:
    for name, encode in ENCODINGS.items():
        (tmp_path / name).write_bytes(b"\x00\xff before " + encode(TOKEN) + b" after")
        (tmp_path / f"{name}, clean").write_bytes(encode("cfut_0000000000000000000000000000000000000000"))
    searching.folder(tmp_path)
    assert places(searching) == {f"file {name}" for name in ENCODINGS}
    assert searching.files == 2 * len(ENCODINGS)


def in_a_spreadsheet(path: Path) -> None:
    book = openpyxl.Workbook()
    book.create_sheet("Sheet2").append(["a", TOKEN])
    book.save(path)


CUT = gzip.compress(json.dumps({"text": TOKEN, "rest": list(range(9_000))}).encode())[:-4_000]


@pytest.mark.parametrize("write", [in_a_spreadsheet, lambda path: path.write_bytes(CUT)])
def test_a_leak_that_is_packed(searching: Search, tmp_path: Path, write: Callable[[Path], object]) -> None:
    write(tmp_path / "packed")
    searching.folder(tmp_path)
    assert searching.hits and all(place.startswith("file packed") for place in places(searching))


LEAKS = """
import logging, os, subprocess, sys, tempfile
from pathlib import Path
from tests.canary import TOKEN

def test_file(tmp_path): (tmp_path / "some.csv").write_text(TOKEN)
def test_print(): print(TOKEN)
def test_captured(capfd):
    os.write(2, TOKEN.encode())
    capfd.readouterr()
def test_log(): logging.getLogger("x").warning("sent %s", TOKEN)
def test_argument(): subprocess.run([sys.executable, "-c", "", TOKEN])
def test_process():
    subprocess.run([sys.executable, "-c", "import os; print(os.environ['X'])"], env={"X": TOKEN}, capture_output=True)
def test_elsewhere(): Path(os.environ["ELSEWHERE"], "log.txt").write_text(TOKEN)
def test_removed():
    with tempfile.TemporaryDirectory(dir=os.environ["ELSEWHERE"], prefix="gone") as folder:
        Path(folder, "ledger").mkdir()
        Path(folder, "ledger", "notes").write_text(TOKEN)
def test_clean(tmp_path):
    (tmp_path / "clean.csv").write_text("nothing")
    print("nothing")
"""
PLACES = {
    "file test_file0/some.csv",
    "output of test_leaks.py::test_print: Captured stdout call",
    "output of test_leaks.py::test_captured (call)",
    "output of test_leaks.py::test_log: Captured log call",
    "arguments of a process in test_leaks.py::test_argument (call)",
    "output of a process in test_leaks.py::test_process (call)",
    "file /elsewhere/log.txt",
    "file /elsewhere/gone/ledger/notes",
}


def session(folder: Path) -> subprocess.CompletedProcess[str]:
    """A session of its own over LEAKS, with two workers."""
    (folder / "elsewhere").mkdir()
    (folder / "leaks").mkdir()
    (folder / "leaks" / "pytest.ini").write_text("[pytest]\n")
    (folder / "leaks" / "test_leaks.py").write_text(LEAKS)
    own = ("-p", "xdist", "-p", "tests.canary_plugin", "-p", "no:cacheprovider", f"--basetemp={folder / 'base'}")
    environ = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "2", *own, "--rootdir", folder / "leaks", folder / "leaks"],
        env=environ
        | {"ELSEWHERE": str(folder / "elsewhere"), "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=folder / "leaks",
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_a_leak_fails_a_session(tmp_path: Path) -> None:
    done = session(tmp_path)
    assert done.returncode == 1 and "9 passed" in done.stdout, done.stdout + done.stderr
    told = re.sub(r"/gone[^/]+", "/gone", done.stdout.replace(str(tmp_path), "")).splitlines()
    assert {line.removesuffix(" (UTF-8)") for line in told if line.endswith(" (UTF-8)")} == PLACES
    assert CORE not in done.stdout + done.stderr
