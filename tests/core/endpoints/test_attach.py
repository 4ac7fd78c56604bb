"""Batches submitted by curl or a Worker: attached, polled and collected, with and without the input file."""

import asyncio
import json
from pathlib import Path

import httpx
import numpy as np
import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind
from cfbatch_gui.core.jobs.elsewhere import read_pasted_job
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.program import Program
from tests.core.endpoints.conftest import ACCOUNT, SECRET, TOKEN, Endpoints
from tests.support.inputs import as_suggested

MODEL = "@cf/baai/bge-m3"
ID = "768f15b7-4fd6-4498-906e-ad94ffc7f8d2"
QUEUED = {"status": "queued", "request_id": ID, "model": MODEL}
RANKED = {
    "requests": [
        {"query": "clouds", "contexts": [{"text": "an orange cloud"}, {"text": "a llama"}], "external_reference": "x"},
        {"query": "llamas", "contexts": [{"text": "a llama"}, {"text": "a dog"}, {"text": "a stone"}]},
    ]
}
PAIRS = "query,context\nclouds,an orange cloud\nclouds,a llama\nllamas,a llama\nllamas,a dog\nllamas,a stone\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (ID, (ID, "")),
        (f'  "{ID}"\n', (ID, "")),
        (json.dumps(QUEUED), (ID, MODEL)),
        (json.dumps({"result": QUEUED, "success": True, "errors": [], "messages": []}, indent=2), (ID, MODEL)),
        (f"HTTP/2 200\ncf-ray: 1\n\n{json.dumps(QUEUED)}\n$ ", (ID, MODEL)),
        (json.dumps({"request_id": ID}), (ID, "")),
        ("000-000-000", ("000-000-000", "")),
    ],
)
def test_what_is_pasted_is_understood(text: str, found: tuple[str, str]) -> None:
    pasted = read_pasted_job(text)
    assert (pasted.request_id, pasted.model) == found


@pytest.mark.parametrize(
    "text",
    ["", "two words", "{}", '{"status":"queued"}', '{"result":null,"success":false}', "https://x.example", "[1]"],
)
def test_what_holds_no_id_is_said(text: str) -> None:
    with pytest.raises(UsageError):
        read_pasted_job(text)


async def post(endpoints: Endpoints, body: object, *, through: str = "Account", model: str = MODEL) -> str:
    if through == "Mine":
        url, secret = f"{endpoints.worker_url}/ai/run/{model}", SECRET
    else:
        url, secret = f"{endpoints.rest.url}/accounts/{ACCOUNT}/ai/run/{model}", TOKEN
    async with httpx.AsyncClient(headers={"authorization": f"Bearer {secret}"}) as client:
        answer = await client.post(f"{url}?queueRequest=true", json=body)
    assert answer.status_code == 200
    return answer.text


def inputs(path: Path, kind: Kind, second_path: Path | None = None) -> AttachedInput:
    return AttachedInput(*as_suggested(path, kind, second_path))


async def attached(
    program: Program, pasted: str, given: AttachedInput | None = None, *, through: str = "Account"
) -> Job:
    connection, model = program.address_book.find(through), program.settings.model
    job = await program.elsewhere.attach(connection, pasted, usual_model=model, inputs=given)
    return await program.runner.wait(job.id)


def rows(program: Program, job: Job) -> list[tuple[str, str, float | None]]:
    with program.folder(job.id).open(read_only=True) as database:
        return database.execute(
            "SELECT q.text, t.text, i.score FROM items i JOIN texts t USING(text_no) JOIN queries q USING(query_no)"
            " ORDER BY i.item_no"
        ).fetchall()


@pytest.mark.parametrize("through", ["Account", "Mine"])
async def test_with_its_file_the_rows_have_their_scores(
    program: Program, endpoints: Endpoints, tmp_path: Path, through: str
) -> None:
    (tmp_path / "pairs.csv").write_text(PAIRS)
    pasted = await post(endpoints, RANKED, through=through)
    job = await attached(program, pasted, inputs(tmp_path / "pairs.csv", Kind.RANK), through=through)
    assert job.state is JobState.DONE and job.model == MODEL and job.attached
    found = rows(program, job)
    assert [(query, text) for query, text, _ in found] == [tuple(line.split(",")) for line in PAIRS.splitlines()[1:]]
    assert found[0][2] > found[1][2] and found[2][2] > found[4][2]  # type: ignore[operator]
    assert job.batches[0].requests == 2 and job.batches[0].texts == 5


@pytest.mark.parametrize(
    "elements",
    [
        [{"text": ["a", "b"]}, {"text": "c"}],
        [{"contexts": [{"text": "a"}, {"text": "b"}]}, {"contexts": [{"text": "c"}]}],
    ],
)
async def test_vectors_of_either_form(program: Program, endpoints: Endpoints, tmp_path: Path, elements: object) -> None:
    pasted = await post(endpoints, {"requests": elements})
    job = await attached(program, pasted)
    assert job.state is JobState.DONE and (job.kind, job.texts) == (Kind.EMBED, 3)
    (tmp_path / "texts.txt").write_text("a\nb\nc\n")
    program.drafts.delete(job.id)
    with_file = await attached(program, pasted, inputs(tmp_path / "texts.txt", Kind.EMBED))
    assert with_file.state is JobState.DONE and with_file.texts == 3
    ours, theirs = (program.folder(each.id).vectors.read_bytes() for each in (job, with_file))
    assert ours == theirs


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (PAIRS.replace("llamas,a stone\n", ""), Kind.RANK),
        (PAIRS + "more,one\n", Kind.RANK),
        ("text\na\nb\nc\nd\ne\n", Kind.EMBED),
    ],
)
async def test_another_file_is_refused(
    program: Program, endpoints: Endpoints, tmp_path: Path, text: str, kind: Kind
) -> None:
    (tmp_path / "other.csv").write_text(text)
    job = await attached(program, await post(endpoints, RANKED), inputs(tmp_path / "other.csv", kind))
    assert job.state is JobState.FAILED
    assert program.folder(job.id).reply(1).exists()


async def test_an_unknown_id_is_said_and_not_offered_to_be_sent_again(program: Program) -> None:
    job = await attached(program, ID)
    assert job.batches[0].state is BatchState.GONE
    assert job.batches[0].error_action == "none"
    for again in (program.actions.send_again(job.id, 1), program.actions.send_again(job.id)):
        with pytest.raises(UsageError):
            await again
    with pytest.raises(UsageError):
        program.drafts.duplicate(job.id, "again")


async def test_the_same_id_is_not_added_twice(program: Program, endpoints: Endpoints) -> None:
    pasted = await post(endpoints, RANKED)
    found = await asyncio.gather(*(attached(program, pasted) for _ in range(2)), return_exceptions=True)
    assert sorted(type(each).__name__ for each in found) == ["Job", "UsageError"]
    with pytest.raises(UsageError):
        await attached(program, pasted)
    assert len(program.ledger.jobs()) == 1


async def test_a_text_that_comes_twice_was_sent_twice(program: Program, endpoints: Endpoints, tmp_path: Path) -> None:
    pasted = await post(endpoints, {"requests": [{"text": ["a", "b", "a"]}, {"text": "b"}]})
    (tmp_path / "texts.txt").write_text("a\nb\na\nb\n")
    job = await attached(program, pasted, inputs(tmp_path / "texts.txt", Kind.EMBED))
    assert job.state is JobState.DONE and job.texts == 4
    vectors = np.load(program.folder(job.id).vectors)
    assert (vectors[0] == vectors[2]).all() and (vectors[1] == vectors[3]).all() and (vectors[0] != vectors[1]).any()
