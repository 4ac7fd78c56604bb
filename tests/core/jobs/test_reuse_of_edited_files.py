"""However a file was edited, what is sent of its new version is what is new; the results are those of a whole run."""

import asyncio
import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Split
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.practice.app import practice_app
from tests.core.jobs.conftest import Bench, Clock
from tests.support.faulty_service import FaultyService
from tests.thorough import tries

WORDS = ("red", "blue", "lamp", "chair", "oak", "größe", "“quoted”", "x" * 30)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
long_texts = st.builds(lambda word, count: " ".join([word] * count), st.sampled_from(WORDS[:5]), st.integers(60, 90))
rows = st.lists(st.tuples(st.sampled_from("ABCDEF"), texts | long_texts), min_size=2, max_size=14)


@dataclass(frozen=True)
class Edit:
    """One change of a list of rows: `at` is where, in parts of 100 of its length."""

    what: str
    at: int
    text: str

    def done_to(self, before: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The rows after it; at least one is left."""
        after, index = list(before), self.at * (len(before) - 1) // 100
        if self.what == "change":
            after[index] = (after[index][0], self.text)
        elif self.what == "rename":
            after[index] = ("Z", after[index][1])
        elif self.what == "add":
            after.insert(index, ("N", self.text))
        elif self.what == "repeat":
            after.append(after[index])
        elif len(after) > 1:
            del after[index]
        return after


edits = st.lists(
    st.builds(
        Edit, st.sampled_from(["change", "rename", "add", "repeat", "remove"]), st.integers(0, 100), texts | long_texts
    ),
    max_size=6,
)


def table(found: list[tuple[str, str]], kind: Kind) -> str:
    if kind is Kind.EMBED:
        return "\n".join(["id,text", *(f"{name},{text}" for name, text in found)]) + "\n"
    return "\n".join(["query,text", *(f"question {name},{text}" for name, text in found)]) + "\n"


@pytest.mark.thorough
@settings(max_examples=tries(20, 1_000), deadline=None)
@given(rows, edits, st.sampled_from(list(Kind)), st.sampled_from([None, Split(40, 5)]))
def test_only_what_is_new_is_sent_and_the_results_are_those_of_a_whole_run(
    before: list[tuple[str, str]], changes: list[Edit], kind: Kind, split: Split | None
) -> None:
    after = before
    for change in changes:
        after = change.done_to(after)
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(_compare(Path(name), table(before, kind), table(after, kind), kind, split))


async def _compare(root: Path, before: str, after: str, kind: Kind, split: Split | None) -> None:
    clock = Clock()
    service = practice_app(root / "service", seconds_queued=0.0, seconds_running=0.0, clock=clock.of_service)
    async with FaultyService(service, clock=clock) as faulty:
        bench = Bench(root / "data", faulty, clock, service_folder=root / "service")
        try:
            first = await bench.run(_draft(bench, root / "may.csv", before, kind, split))
            assert first.state is JobState.DONE
            known = _sent(bench, 0)
            count = len(bench.accepted_bodies())
            taken = await bench.run(_draft(bench, root / "june.csv", after, kind, split))
            new = _sent(bench, count)
            count = len(bench.accepted_bodies())
            whole = await bench.run(_draft(bench, root / "june.csv", after, kind, split, reuse=False))
            everything = _sent(bench, count)
            assert (taken.state, whole.state, whole.reused) == (JobState.DONE, JobState.DONE, 0)
            if split is None or kind is Kind.EMBED:  # a ranking takes a text in parts as a whole, or sends all of them
                assert new == everything - known
            else:
                assert everything - known <= new <= everything
            assert _results(bench, taken) == _results(bench, whole)
        finally:
            await bench.stop()


def _draft(bench: Bench, path: Path, content: str, kind: Kind, split: Split | None, *, reuse: bool = True) -> Job:
    path.write_text(content, encoding="utf-8")
    job = bench.drafts.create(kind, path.stem, "@cf/baai/bge-m3", "cloudflare")
    bench.drafts.change(job.id, options=replace(job.options, reuse=reuse))
    source = open_source(path)
    return bench.drafts.load(job.id, source, replace(suggest_mapping(source, kind, preview(source)), split=split))


def _sent(bench: Bench, since: int) -> frozenset[tuple[str, str]]:
    """Pairs of query and text, the query "" without one."""
    found: set[tuple[str, str]] = set()
    for body in bench.accepted_bodies()[since:]:
        for request in json.loads(body)["requests"]:
            texts = request.get("text") or [each["text"] for each in request["contexts"]]
            found.update((request.get("query", ""), text) for text in ([texts] if isinstance(texts, str) else texts))
    return frozenset(found)


def _results(bench: Bench, job: Job) -> object:
    folder = bench.drafts.folder(job.id)
    if job.kind is Kind.EMBED:
        return np.load(folder.vectors).tobytes()
    with folder.open(read_only=True) as database:
        return database.execute("SELECT item_no, score FROM items ORDER BY item_no").fetchall()
