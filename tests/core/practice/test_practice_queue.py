"""The states of a batch over time, and a queue that survives restarts."""

import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from cfbatch_gui.core.practice.queue import KEPT_SECONDS, Queue
from tests.core.practice.conftest import ACCOUNT, Calls, Practice
from tests.support.practice import accepted, answered_synchronously

ROOT = Path(__file__).parents[3]
ELEMENT = {"text": ["a", "b"], "external_reference": "r1"}


async def state(calls: Calls, request_id: str) -> str:
    result = (await calls.poll(request_id))["result"]
    return "done" if "responses" in result else str(result["status"])


async def test_a_batch_waits_then_runs_then_is_done(practice: Practice, calls: Calls) -> None:
    request_id = await calls.submit(ELEMENT)
    start = practice.now
    seen = []
    for seconds in (0, 9.9, 10, 29.9, 30, 1000):
        practice.now = start + seconds
        seen.append(await state(calls, request_id))
    assert seen == ["queued", "queued", "running", "running", "done", "done"]


async def test_a_waiting_answer_repeats_the_id_and_the_model(calls: Calls) -> None:
    request_id = await calls.submit(ELEMENT)
    result = (await calls.poll(request_id))["result"]
    assert result == {"status": "queued", "request_id": request_id, "model": "@cf/baai/bge-m3"}


async def test_a_done_answer_has_no_status_and_stays_the_same(practice: Practice, calls: Calls) -> None:
    request_id = await calls.submit(*[ELEMENT] * 20)
    practice.now += 30
    first = await calls.poll(request_id)
    assert first["result"].keys() == {"responses", "usage"}
    assert await calls.poll(request_id, queue=False) == first  # the form in which the Workers Binding polls


async def test_polling_after_a_restart(practice: Practice, calls: Calls) -> None:
    request_id = await calls.submit(ELEMENT)
    practice.now += 30
    before = await calls.poll(request_id)
    assert await Calls(practice.open()).poll(request_id) == before


async def test_an_id_is_known_to_its_account_and_model_alone(practice: Practice, calls: Calls) -> None:
    request_id = await calls.submit(ELEMENT)
    strangers = (
        (Calls(calls.client, account="b" * 32), request_id),
        (Calls(calls.client, "@cf/baai/bge-small-en-v1.5"), request_id),
        (calls, "768f15b7-4fd6-4498-906e-ad94ffc7f8d2"),
        (calls, ""),
    )
    for stranger, asked in strangers:
        answer = await stranger.post({"request_id": asked})
        assert answer.status_code == 400
        assert answer.json()["errors"] == [{"code": 5504, "message": "AiError: Request not found in queue"}]
    assert await state(Calls(calls.client, account=ACCOUNT.lower()), request_id) == "queued"


async def test_a_week_later_the_body_is_gone_but_not_the_line_in_the_ledger(practice: Practice, calls: Calls) -> None:
    request_id = await calls.submit(ELEMENT)
    practice.now += KEPT_SECONDS
    assert await state(calls, request_id) == "done"
    practice.now += 1
    assert (await calls.poll(request_id))["errors"][0]["code"] == 5504
    later = await calls.submit(ELEMENT)
    practice.now -= 100
    assert (await calls.poll(request_id))["errors"][0]["code"] == 5504
    assert [line.request_id for line in accepted(practice.folder)] == [request_id, later]


async def test_a_bare_element_is_accepted_and_fails_as_a_job(practice: Practice, calls: Calls) -> None:
    queued = (await calls.post(ELEMENT)).json()
    request_id = queued["result"]["request_id"]
    assert queued["result"]["status"] == "queued"
    practice.now += 30
    answer = await calls.post({"request_id": request_id})
    assert answer.status_code == 500
    assert answer.json()["errors"][0]["code"] == 5001


async def test_a_queue_that_cannot_be_written(practice: Practice, calls: Calls) -> None:
    practice.folder.write_text("not a folder")
    answer = await calls.post({"requests": [ELEMENT]})
    assert answer.status_code == 500
    assert answer.json()["success"] is False
    assert str(practice.folder) not in answer.text


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_what_was_accepted_survives_kill_9(tmp_path: Path) -> None:
    program = f"""
import os, signal
from pathlib import Path
from cfbatch_gui.core.practice.queue import Queue
queue = Queue(Path({str(tmp_path)!r}))
for number in range(3):
    print(queue.accept("a", "m", b"body %d" % number, float(number)), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False, timeout=60
    )
    assert ended.returncode == -signal.SIGKILL
    ids = ended.stdout.split()
    assert [line.request_id for line in accepted(tmp_path)] == ids
    assert [Queue(tmp_path).body(request_id, "a", "m", 10.0) for request_id in ids] == [b"body 0", b"body 1", b"body 2"]


def test_nothing_was_accepted_where_there_is_no_queue(tmp_path: Path) -> None:
    assert accepted(tmp_path / "none") == []
    assert Queue(tmp_path / "none").accepted_at("id", "a", "m", 0.0) is None
    assert not (tmp_path / "none").exists()


async def test_the_ledger_knows_the_calls_without_the_queue_that_were_answered(
    practice: Practice, calls: Calls
) -> None:
    answered = await calls.post(ELEMENT, queue=False)
    refused = await calls.post({"contexts": [{"text": ""}]}, queue=False)
    assert (answered.status_code, refused.status_code) == (200, 400)
    (known,) = answered_synchronously(practice.folder)
    assert known.sha256 == sha256(answered.request.content).hexdigest()
    assert (known.account, known.size) == (ACCOUNT.lower(), len(answered.request.content))
    assert known.answered_at == practice.now and accepted(practice.folder) == []
