"""A job whose answers the account collects while the window is closed, by the real Worker in Cloudflare's runtime."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.connections.credentials import variable_of
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings
from tests.journeys.terminal import jobs_in, until
from tests.support.practice import PracticeServer
from tests.worker.collecting_runtime import CollectingRuntime
from tests.worker.runtime import SECRET

pytest.importorskip("PySide6")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux" or not shutil.which("Xvfb"), reason="needs a screen of its own: Xvfb"),
    pytest.mark.timeout(400),
]

ROOT = Path(__file__).parents[2]
LONG = 3_600.0  # seconds that a batch takes; the test moves the service's clock on
Do = Callable[[Path, str], list[str]]


@pytest.fixture
def clock() -> dict[str, float]:
    return {"ahead": 0.0}


@pytest.fixture
def account(tmp_path: Path, clock: dict[str, float]) -> Iterator[CollectingRuntime]:
    with (
        PracticeServer(
            tmp_path / "practice",
            seconds_queued=LONG / 2,
            seconds_running=LONG / 2,
            clock=lambda: time.time() + clock["ahead"],
            load_model=HashedNgrams,
        ) as practice,
        CollectingRuntime(practice.url, tmp_path / "account") as runtime,
    ):
        yield runtime


@pytest.fixture
def do(account: CollectingRuntime, tmp_path: Path) -> Do:
    """Start the program over a data folder, and have somebody do something; what stood on the screen."""
    file = tmp_path / "harbour.csv"
    words = "an orange cloud over the harbour with a small boat and many words "
    file.write_text("id,text\n" + "".join(f'id-{n},"{n} {words * 60}"\n' for n in range(600)), encoding="utf-8")

    def done(root: Path, wish: str) -> list[str]:
        known = {name: text for name, text in os.environ.items() if name in ("PATH", "TMPDIR", "OPENBLAS_NUM_THREADS")}
        environ = {**known, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "QT_API": "pyside6"}
        for each in Settings.load(Paths(root).settings).connections:
            environ[variable_of(each.id)] = SECRET
        command = [str(ROOT / "scripts" / "with-screen.sh"), sys.executable, "-m", "tests.journeys.account_window"]
        ended = subprocess.run(
            [*command, str(root), account.address, str(file), wish],
            input=f"{SECRET}\n",
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=240,
            env=environ,
            check=False,
        )
        assert ended.returncode == 0 and "Traceback" not in ended.stderr, f"{ended.stdout}\n{ended.stderr}"
        return ended.stdout.splitlines()

    return done


def wait_until_collected(account: CollectingRuntime, job: Job) -> None:
    """Until the bucket has an answer to each batch; no program is at work."""
    wanted = {f"answers/{job.id}/{batch.shard}/{batch.number}" for batch in job.batches}
    until(lambda: wanted <= set(account.order("listObjects")["keys"]))


def test_the_account_collects_while_the_window_is_closed_and_another_computer_takes_over(
    do: Do, account: CollectingRuntime, clock: dict[str, float], tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    collects, with_account = do(first, "send")
    assert collects.startswith("Collects answers")
    assert with_account
    (job,) = jobs_in(first)
    assert job.batches_done == 0 and {batch.shard for batch in job.batches} == {1}
    clock["ahead"] = LONG
    wait_until_collected(account, job)
    (facts,) = do(first, "return")
    assert "600 texts" in facts and facts.endswith("copies in your account")
    do(second, "take over")
    (taken,) = jobs_in(second)
    assert taken.id == job.id and taken.taken_over and taken.source_name == "harbour.csv"
    ours, theirs = (np.load(JobFolder(Paths(root).job(job.id)).vectors) for root in (first, second))
    np.testing.assert_array_equal(ours, theirs)
