"""Mutated answers: either the stored values are correct, or the batch is put aside with a reason.

The program's own functions write the raw answer to the job's folder, read it back, check and store it. The correct
values are computed from the texts. `--hypothesis-profile=thorough` tries 5,000 answers.
"""

import copy
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.errors import ReplyError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.run.collecting import collect, keep_reply
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.practice.inference import read_body, run_batch
from cfbatch_gui.core.practice.models import find
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai.answers import Finished, read_answer
from tests.bodies import body_of
from tests.core.faults.conftest import TinyModel, score_of, sent_as
from tests.thorough import tries

MODEL = "@cf/baai/bge-m3"
EXAMPLES = tries(100, 5_000)
ODD_VALUES: list[Any] = [
    None,
    True,
    False,
    "",
    "1",
    "queued",
    -1,
    0,
    1,
    2,
    0.0,
    1.5,
    10**30,
    [],
    {},
    [[]],
    [[1.0]],
    {"id": 0},
]


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
        lines = ["query,context", *(f"query {n},context {n} {c}" for n in range(4) for c in range(n + 1))]
    else:
        lines = [f"text {n}" for n in range(203)]
    path = root / ("pairs.csv" if request.param is Kind.RANK else "texts.txt")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    paths = Paths(root / "data")
    paths.create()
    ledger = Ledger.open(paths)
    drafts = Drafts(ledger, paths, clock=lambda: 0.0)
    job = drafts.create(request.param, path.stem, MODEL, "cloudflare")
    source = open_source(path)
    job = drafts.load(job.id, source, suggest_mapping(source, request.param, preview(source)))
    folder = JobFolder(paths.job(job.id))
    packing.plan(folder, job)
    served = find(MODEL)
    assert served is not None
    batch = read_body(body_of(folder, job, 1), served)
    assert isinstance(batch, tuple)
    answer = json.loads(b"".join(run_batch("request", batch, served, TinyModel())))
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


def wrong_results(folder: JobFolder) -> list[object]:
    """Every stored value that is not the correct one of its text, and every value of a request that is not done."""
    with folder.open(read_only=True) as database:
        rows = database.execute(
            "SELECT i.item_no, q.text, t.text, i.score, r.state FROM items i JOIN texts t USING(text_no)"
            " LEFT JOIN queries q USING(query_no) JOIN requests r USING(request_no)"
        ).fetchall()
    vectors = np.load(folder.vectors) if folder.vectors.exists() else None
    wrong: list[object] = []
    for item_no, query, text, score, state in rows:
        if query is None:
            is_right = state != "done" or (vectors is not None and vectors[item_no - 1].tolist() == sent_as(text))
        else:
            is_right = score is None if state != "done" else abs(score - score_of(query, text)) < 1e-3
        wrong += [] if is_right else [(query, text, score, state)]
    return wrong


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
        assert reason.endswith(".") and len(reason) > 30
        assert states(folder) == {"waiting"}
        assert folder.read_reply(1) == raw


@pytest.mark.thorough
def test_a_spoilt_answer_is_put_aside_or_changes_nothing(sent: Sent, folder: JobFolder) -> None:
    check_one(sent=sent, folder=folder)


def test_the_true_answer_is_stored_whole(sent: Sent, folder: JobFolder) -> None:
    assert collected(sent, json.dumps(sent.answer).encode(), folder) == ""
    assert states(folder) == {"done"} and wrong_results(folder) == []
