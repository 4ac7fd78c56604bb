"""Which hosts the program speaks to, and what it starts: by Python's own audit events, in a process of its own."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.journeys.terminal import connected, own_environ, read_csv, run_well

NOTHING: dict[str, list[Any]] = {"connected": [], "looked up": [], "listened": [], "started": [], "told": []}
PAIRS = b"query,context\nred,a red apple\nred,a blue whale\nblue,a red apple\nblue,a blue whale\n"


def watched(
    folder: Path, *wish: object, environ: Mapping[str, str] = {}, before: Sequence[str] = ()
) -> dict[str, list[Any]]:
    """With a proxy that must not be used for loopback addresses."""
    seen = folder / "seen.json"
    nowhere = dict.fromkeys(("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:9")
    own = own_environ(folder, CFBATCH_DATA_DIR=str(folder / "data"), QT_QPA_PLATFORM="offscreen")
    command = (*before, sys.executable, "-m", "tests.journeys.watched", seen, *wish)
    run_well(*command, environ={**own, **nowhere, **environ})
    found: dict[str, list[Any]] = json.loads(seen.read_text())
    return found


@pytest.fixture
def ranking(tmp_path: Path) -> tuple[object, ...]:
    """A whole job: read, sent, asked for, exported."""
    (tmp_path / "pairs.csv").write_bytes(PAIRS)
    out = tmp_path / "ranked.csv"
    return ("cfbatch", "run", tmp_path / "pairs.csv", "--rank", "--out", out)


def _without_network() -> tuple[str, ...]:
    """A command in front that takes the network away, also from what is not written in Python; () if none can."""
    command = ("unshare", "--map-root-user", "--net", "--")
    if not shutil.which("unshare"):
        return ()
    done = subprocess.run([*command, sys.executable, "-c", ""], capture_output=True, check=False)
    return command if done.returncode == 0 else ()


def is_ranked(folder: Path) -> bool:
    return len(read_csv(folder / "ranked.csv")) == 4


def test_a_job_on_the_practice_service_speaks_to_nobody(tmp_path: Path, ranking: tuple[object, ...]) -> None:
    """Also with an account connected; where the system allows it, in a network namespace without a network."""
    account, before = connected("https://api.cloudflare.com/client/v4"), _without_network()
    assert watched(tmp_path, *ranking, "--connection", "practice", environ=account, before=before) == NOTHING
    assert is_ranked(tmp_path)


def test_a_job_at_a_host_speaks_to_that_host_alone(tmp_path: Path, ranking: tuple[object, ...], service: str) -> None:
    seen = watched(tmp_path, *ranking, "--connection", "cloudflare", environ=connected(service))
    port = urlsplit(service).port
    assert is_ranked(tmp_path)
    assert len(seen["connected"]) >= 2  # to submit, and to ask
    assert {tuple(address) for address in seen.pop("connected")} == {("127.0.0.1", port)}
    assert {tuple(each[1:]) for each in seen.pop("looked up")} <= {("127.0.0.1", str(port))}
    assert seen == {"listened": [], "started": [], "told": []}


def test_importing_everything_speaks_to_nobody(tmp_path: Path) -> None:
    pytest.importorskip("PySide6")
    seen = watched(tmp_path, "import everything")
    assert (seen["connected"], seen["looked up"], seen["listened"]) == ([], [], [])
