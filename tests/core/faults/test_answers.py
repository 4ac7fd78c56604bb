"""Answers with something wrong: what is stored is right, or the batch is put aside with a reason.

Most are read by the program's own functions, which write the raw answer to the job's folder, read it back, check and
store it; the correct values are computed from the texts. Those that the watcher has to notice go through a service.
"""

import asyncio
import copy
import json
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.errors import ReplyError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import metadata_value
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.run.collecting import collect, keep_reply
from cfbatch_gui.core.jobs.run.runner import READINGS
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.practice.app import read_body, run_batch
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai import limits
from cfbatch_gui.core.workers_ai.answers import Finished, read_answer
from cfbatch_gui.core.workers_ai.catalogue import find_model
from cfbatch_gui.core.workers_ai.limits import ExchangeLimits
from tests.core.endpoints.conftest import service
from tests.core.faults.conftest import FaultBench, Open, TinyModel, wrong_results
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService
from tests.support.inputs import as_suggested
from tests.support.mutations import of_another_job
from tests.thorough import tries

MODEL = "@cf/baai/bge-m3"
EXAMPLES = tries(30, 5_000)
ODD_VALUES: list[Any] = [
    *(None, True, False, "", "1", "queued", -1, 0, 1, 2, 0.0, 1.5, 10**30, [], {}, [[]], [[1.0]], {"id": 0})
]
FOREIGN = (
    '{"result":{"request_id":"another","responses":[]},"success":true,"errors":[],"messages":[]}',
    '{"request_id":"another","status":"running"}',
    '{"request_id":"another"}',
)
DONE, FAILED = BatchState.DONE, BatchState.FAILED


@dataclass(frozen=True)
class Sent:
    """A batch that was sent: its job's folder, and its correct answer."""

    kind: Kind
    folder: Path
    answer: Any


@pytest.fixture(scope="module", params=list(Kind))
def sent(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sent]:
    root = tmp_path_factory.mktemp("sent")
    if request.param is Kind.RANK:
        lines = ["query,context", *(f"query {n},context {n} {c}" for n in range(4) for c in range(n + 2))]
    else:
        lines = [f"text {n}" for n in range(203)]
    path = root / ("pairs.csv" if request.param is Kind.RANK else "texts.txt")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    paths = Paths(root / "data")
    paths.create()
    ledger = Ledger.open(paths)
    drafts = Drafts(ledger, paths, clock=lambda: 0.0)
    job = drafts.create(request.param, path.stem, MODEL, "cloudflare")
    job = drafts.load(job.id, *as_suggested(path, request.param))
    folder = JobFolder(paths.job(job.id))
    served = find_model(MODEL)
    batch = read_body(packing.body_of(folder, job, packing.plan(folder, job).batches[0]), served)
    assert isinstance(batch, tuple)
    answer = json.loads(msgspec.json.encode(run_batch("request", batch, served, TinyModel())))
    ledger.close()
    yield Sent(request.param, folder.path, answer)


def framed(answer: Any, random: Any) -> Any:
    """A copy of the answer in one of the forms that the service uses, in random order."""
    answer = copy.deepcopy(answer)
    elements = answer["responses"]
    random.shuffle(elements)
    for element in elements:
        if isinstance(element["result"].get("response"), list) and isinstance(element["result"]["response"][0], dict):
            random.shuffle(element["result"]["response"])
    if random.random() < 0.2:
        for element in elements:
            element["result"] = {"result": element["result"]}
    if random.random() < 0.2:
        answer["results"] = answer.pop("responses")
    if random.random() < 0.5:
        answer = {"result": answer, "success": True, "errors": [], "messages": []}
    return answer


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every value in the answer, as its container and its key or index. Of a list, the first 12 items only."""
    keys = list(node) if isinstance(node, dict) else range(min(len(node), 12)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from places(node[key])


def other_values(node: Any) -> Any:
    """A copy in which every float is different."""
    if isinstance(node, dict):
        return {key: other_values(value) for key, value in node.items()}
    if isinstance(node, list):
        return [other_values(value) for value in node]
    return node + 1.0 if isinstance(node, float) else node


def spoil(answer: Any, random: Any) -> None:
    """Drop, repeat or replace one value, swap the marks of two elements, or add a second result for one element."""
    holder, key = random.choice(list(places(answer)))
    elements = [node for node, mark in places(answer) if mark == "external_reference"]
    match random.choice(["drop", "repeat", "odd", "swap", "again"]):
        case "drop":
            holder.pop(key)
        case "repeat" if isinstance(holder, list):
            holder.insert(random.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
        case "swap" if len(elements) > 1:
            first, second = random.sample(elements, 2)
            mark = random.choice(["id", "external_reference"])
            first[mark], second[mark] = second[mark], first[mark]
        case "again" if elements:
            found = next(node for node, mark in places(answer) if mark in ("responses", "results"))
            listed = found["responses"] if "responses" in found else found["results"]
            listed.insert(random.randrange(len(listed) + 1), other_values(copy.deepcopy(random.choice(listed))))
        case _:
            # a different number in a vector or score cannot be detected
            is_value = isinstance(holder[key], float)
            holder[key] = random.choice([odd for odd in ODD_VALUES if not (is_value and type(odd) in (int, float))])


def states(folder: JobFolder) -> set[str]:
    with folder.open(read_only=True) as database:
        return {state for (state,) in database.execute("SELECT DISTINCT state FROM requests")}


def collected(sent: Sent, raw: bytes, folder: JobFolder) -> str:
    """Collect the raw answer as a finished batch; the reason for putting it aside, "" when it was stored."""
    shutil.copyfile(sent.folder / "data.db", folder.data)
    folder.vectors.unlink(missing_ok=True)
    keep_reply(folder, 1, raw)
    try:
        answer = read_answer(folder.read_reply(1))
        if isinstance(answer, Finished):
            collect(folder, sent.kind, 1, answer)
    except ReplyError as error:
        return error.message
    return ""


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    made = JobFolder(tmp_path / "job")
    made.create()
    return made


@settings(max_examples=EXAMPLES, deadline=None)
@given(random=st.randoms(use_true_random=False))
def check_one(random: Any, *, sent: Sent, folder: JobFolder) -> None:
    answer = framed(sent.answer, random)
    spoil(answer, random)
    raw = json.dumps(answer).encode()
    if random.random() < 0.05:
        raw = raw[: random.randrange(len(raw))]
    reason = collected(sent, raw, folder)
    assert wrong_results(folder) == []
    if reason:
        assert states(folder) == {"waiting"}
        assert folder.read_reply(1) == raw


@pytest.mark.thorough
def test_a_spoilt_answer_is_put_aside_or_changes_nothing(sent: Sent, folder: JobFolder) -> None:
    check_one(sent=sent, folder=folder)


def test_the_true_answer_is_stored_whole(sent: Sent, folder: JobFolder) -> None:
    assert collected(sent, json.dumps(sent.answer).encode(), folder) == ""
    assert states(folder) == {"done"} and wrong_results(folder) == []


def test_the_answer_of_another_job_is_put_aside(sent: Sent, folder: JobFolder) -> None:
    assert collected(sent, of_another_job(json.dumps(sent.answer).encode()), folder)
    assert states(folder) == {"waiting"}


# What the watcher has to notice: it asks again, and puts the batch aside when nothing better comes


async def play(bench: FaultBench, fault: Fault | None = None, texts: int = 3) -> Job:
    path = bench.write("texts.txt", "".join(f"text {number}\n" for number in range(texts)))
    bench.faulty.follow(*([fault] if fault else []))
    return await bench.run(bench.draft(path, Kind.EMBED))


@pytest.mark.parametrize("foreign", FOREIGN)
@pytest.mark.parametrize(("times", "state"), [(READINGS - 1, DONE), (READINGS, FAILED)])
async def test_an_answer_that_names_another_batch(
    open_bench: Open, times: int, state: BatchState, foreign: str
) -> None:
    async with open_bench() as bench:
        job = await play(bench, faults.any_reply(on="poll", body=foreign, times=times))
        (batch,) = job.batches
        assert batch.state is state
        assert wrong_results(bench.store.folder(job.id)) == []
        assert bench.results(job.id) == (3 if state is DONE else 0)
        if state is FAILED:
            assert bench.store.folder(job.id).read_reply(1) == foreign.encode()


@pytest.mark.parametrize(
    ("number", "times", "state", "came_back"), [(2, 1, DONE, True), (2, 0, FAILED, True), (1, 0, DONE, None)]
)
async def test_references_that_came_back_once_have_to_come_back_and_a_service_that_never_gives_them_is_taken(
    open_bench: Open, number: int, times: int, state: BatchState, came_back: bool | None
) -> None:
    async with open_bench() as bench:
        fault = faults.mutate(on="poll", number=number, times=times, how="references_null")
        job = await play(bench, fault, texts=limits.MAX_TEXTS_PER_BATCH + 1)
        assert [batch.state for batch in job.batches] == [DONE, state]
        folder = bench.store.folder(job.id)
        assert wrong_results(folder) == []
        with folder.open(read_only=True) as database:
            assert metadata_value(database, "references_echoed") is came_back
        assert state is DONE or folder.reply(2).exists()


async def test_vectors_of_another_length_than_the_models_are_refused(
    open_bench: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_bench() as bench:
        monkeypatch.setattr(limits, "PRACTICE_DIMENSIONS", frozenset())
        job = await play(bench)
        assert job.batches[0].state is FAILED
        assert job.batches[0].error_detail == "8 numbers, not 1024"
        assert not bench.store.folder(job.id).vectors.exists()


@pytest.mark.parametrize(
    ("how", "times", "state"),
    [
        ("unknown_status", 2, DONE),
        ("not_successful", 0, BatchState.QUEUED),
        ("success_as_string", 0, FAILED),
        ("errors_as_string", 0, FAILED),
    ],
)
async def test_an_answer_that_is_none(open_bench: Open, how: str, times: int, state: BatchState) -> None:
    async with open_bench() as bench:
        job = await play(bench, faults.mutate(how=how, on="poll", times=times))
        assert job.batches[0].state is state
        assert bench.results(job.id) == (3 if state is DONE else 0)


ROOM = 64  # megabytes of memory allowed for an answer of unlimited size


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[FaultyService]:
    async with FaultyService(service(tmp_path)) as made:
        yield made


MEASURED = """
import asyncio, json, re, sys
from pathlib import Path
from cfbatch_gui.core.workers_ai.limits import ExchangeLimit
from cfbatch_gui.core.workers_ai.transport import ExchangeError, Transport

def peak():  # in kilobytes; getrusage would tell that of the process that started this one
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

async def main():
    url, most_bytes = sys.argv[1], int(sys.argv[2])
    transport = Transport()
    said = []
    for number in range(2):
        try:
            answer = await transport.send("GET", url, headers={}, limit=ExchangeLimit(60, most_bytes))
            said.append(answer.status)
        except ExchangeError as error:
            said.append(error.reason)
        if number == 0:
            before = peak()
    after = peak()
    print(json.dumps({"said": said, "megabytes": (after - before) / 1024}))

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("fault", "most_bytes"),
    [
        (faults.gzip_bomb(number=2, megabytes=500), ExchangeLimits().poll.most_bytes),
        (faults.large_reply(number=2, megabytes=300), ExchangeLimits().check.most_bytes),
    ],
)
async def test_no_answer_fills_the_memory(faulty: FaultyService, fault: Fault, most_bytes: int) -> None:
    faulty.follow(fault)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        MEASURED,
        f"{faulty.url}/user/tokens/verify",
        str(most_bytes),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    measured = json.loads(out)
    assert measured["said"] == [400, "too_large"]  # no token was sent
    assert measured["megabytes"] < ROOM
