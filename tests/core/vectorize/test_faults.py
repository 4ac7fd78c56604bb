"""Pushes over a real socket: an answer is lost, a part is large, the process is killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.vectorize.push_values import PushOutcome
from tests.canary import TOKEN
from tests.core.vectorize.conftest import OPTIONS, THROUGH, Bench, unit_vectors
from tests.core.vectorize.killed_push import PART, VECTORS, add_job
from tests.support import faults
from tests.support.faulty_service import FaultyService
from tests.support.practice import PracticeServer


@pytest.mark.parametrize("billed", [False, True], ids=["unapplied", "applied"])
async def test_an_upload_whose_answer_is_lost_is_repeated(tmp_path: Path, billed: bool) -> None:
    service = practice_app(
        tmp_path / "service", seconds_queued=0, seconds_running=0, seconds_mutating=0, load_model=HashedNgrams
    )
    lost = faults.reset_after_body(on="upload", number=2, times=2, billed=billed)
    async with FaultyService(service, [lost]) as faulty:
        bench = Bench(tmp_path, faulty.url, most_vectors=20)
        await bench.ready(unit_vectors(60, 32))
        push = await bench.vectorize.push("one", *THROUGH, OPTIONS)
        assert (push.outcome, push.sent, push.in_index) == (PushOutcome.VERIFIED, 60, 60)
        assert len(bench.events()) == (5 if billed else 3)
        assert (await bench.opened().push("one", *THROUGH, OPTIONS)).sent == 0


async def test_large_parts_go_over_http_in_pieces(tmp_path: Path) -> None:
    with PracticeServer(tmp_path / "service", token=TOKEN, load_model=HashedNgrams) as server:
        bench = Bench(tmp_path, server.url, most_bytes=5_000_000)
        await bench.ready(unit_vectors(500, 1_024))
        push = await bench.vectorize.push("one", *THROUGH, OPTIONS)
    assert push.outcome is PushOutcome.VERIFIED
    assert len(bench.events()) == 2


@pytest.mark.parametrize("parts", [0, 7])
async def test_a_push_that_is_killed_goes_on_with_what_is_missing(tmp_path: Path, parts: int) -> None:
    with PracticeServer(tmp_path / "service", token=TOKEN, load_model=HashedNgrams) as server:
        bench = Bench(tmp_path, server.url)
        add_job(bench)
        await bench.index(dimensions=64)
        command = [sys.executable, "-m", "tests.core.vectorize.killed_push", str(tmp_path), server.url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.split() == ["sending", str(parts * PART)]:
                    process.kill()
                    break
        (stopped,) = bench.vectorize.pushes("one")
        assert stopped.outcome is PushOutcome.SENDING
        assert parts * PART <= stopped.acknowledged < VECTORS
        push = await bench.vectorize.push("one", *THROUGH, OPTIONS)
    assert (push.outcome, push.acknowledged, push.in_index) == (PushOutcome.VERIFIED, VECTORS, VECTORS)
    assert push.sent == VECTORS - stopped.acknowledged or push.sent == VECTORS - stopped.acknowledged - PART
    sent = [identifier for each in bench.events() for identifier in each.ids]
    assert len(set(sent)) == VECTORS
    assert len(sent) <= VECTORS + PART  # at most the part that was under way goes twice
