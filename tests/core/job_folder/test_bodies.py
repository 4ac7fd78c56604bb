"""The bytes of request bodies: what was read, as large as planned, the same in a trial and when they are sent."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Mapping, Split
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.workers_ai.estimate import count_tokens, tokens_lower, tokens_upper
from cfbatch_gui.core.workers_ai.requests import (
    EmbedRequest,
    RankRequest,
    embedding_frame,
    encode_request,
    ranking_frame,
)
from tests.bodies import body_of

Write = Callable[[str, str], Path]

ODD = [
    'say "hello"',
    "back\\slash \\u0000",
    "line\nbreak\r\n",
    "tab\there \x1f \x7f",
    "雲 ☁️ émoji 😀",
    ",",
    '","',
    "x" * 3_000,
]


def job(kind: Kind) -> Job:
    return Job("abc", "n", kind, "@cf/baai/bge-m3", "practice", 0.0, options=JobOptions())


def filled(tmp_path: Path, path: Path, kind: Kind, split: Split | None = None) -> JobFolder:
    folder = JobFolder(tmp_path / "job")
    source = open_source(path)
    mapping: Mapping = suggest_mapping(source, kind, preview(source))
    fill(folder, source, replace(mapping, split=split))
    return folder


def bodies(folder: JobFolder, kind: Kind) -> list[bytes]:
    plan = packing.plan(folder, job(kind))
    made = list(packing.bodies_of(folder, job(kind), (batch.number for batch in plan.batches)))
    assert [len(body) for body in made] == [batch.bytes for batch in plan.batches]
    return made


def lines(rows: list[dict[str, str]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


FILES: dict[str, tuple[Kind, str]] = {
    "texts": (Kind.EMBED, lines([{"id": str(n), "text": f"{ODD[n % len(ODD)]} {n}"} for n in range(2_100)])),
    "repeats": (Kind.EMBED, lines([{"text": f"text {n % 700} {ODD[n % 3]}"} for n in range(1_500)])),
    "pairs": (
        Kind.RANK,
        lines([{"query": f'query {n // 7} "“', "context": f"{ODD[n % len(ODD)]} {n}"} for n in range(900)]),
    ),
    "mixed pairs": (Kind.RANK, lines([{"query": f"query {n % 90}", "context": f"context {n}"} for n in range(900)])),
}


@pytest.mark.parametrize("name", FILES)
def test_a_trial_shows_the_bodies_that_will_be_sent(tmp_path: Path, write: Write, name: str) -> None:
    kind, content = FILES[name]
    folder = filled(tmp_path, write("a.jsonl", content), kind)
    tried = packing.plan(folder, job(kind), is_trial=True)
    shown = [body_of(folder, job(kind), batch.number) for batch in tried.batches]
    assert packing.plan(folder, job(kind)) == tried
    assert bodies(folder, kind) == shown


def test_what_was_read_is_what_is_sent(tmp_path: Path, write: Write) -> None:
    path = write("a.jsonl", lines([{"text": text} for text in ODD]))
    (body,) = bodies(filled(tmp_path, path, Kind.EMBED), Kind.EMBED)
    assert json.loads(body)["requests"][0]["text"] == ODD


def test_parts_of_long_texts_go_out_as_planned(tmp_path: Path, write: Write) -> None:
    rows = [{"query": "wet clouds", "context": f"{n}. " + "Wolken sind nass. " * (n % 90)} for n in range(400)]
    folder = filled(tmp_path, write("a.jsonl", lines(rows)), Kind.RANK, Split(64, 8))
    sent = [
        context["text"]
        for body in bodies(folder, Kind.RANK)
        for request in json.loads(body)["requests"]
        for context in request["contexts"]
    ]
    assert len(sent) > len(rows)
    assert all(tokens_upper(text) <= 64 for text in sent)


def test_a_reading_that_was_stopped_leaves_what_was_there(tmp_path: Path, write: Write) -> None:
    path = write("a.jsonl", FILES["texts"][1])
    folder = filled(tmp_path, path, Kind.EMBED)
    before = {found.name: found.read_bytes() for found in folder.path.iterdir() if found.is_file()}
    source = open_source(path)

    def stop(position: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill(folder, source, suggest_mapping(source, Kind.EMBED, preview(source)), progress=stop)
    assert {found.name: found.read_bytes() for found in folder.path.iterdir() if found.is_file()} == before


@given(st.lists(st.text(), max_size=20))
def test_tokens_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    upper, lower = count_tokens(texts)
    assert upper.tolist() == [tokens_upper(text) for text in texts]
    assert lower.tolist() == [tokens_lower(text) for text in texts]


written = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
encode = msgspec.json.encode


@given(written, st.lists(written, min_size=1, max_size=5), st.text("abc-1"), st.sampled_from([None, True]))
def test_frames_make_the_elements_of_the_encoder(
    query: str, texts: list[str], reference: str, truncate: bool | None
) -> None:
    packed = list(map(encode, texts))
    for frame, request in (
        (ranking_frame(query, reference, truncate), RankRequest(query, tuple(texts), reference, truncate)),
        (embedding_frame(reference, truncate, "cls"), EmbedRequest(tuple(texts), reference, truncate, "cls")),
        (embedding_frame(reference, truncate, ""), EmbedRequest(tuple(texts), reference, truncate)),
    ):
        whole = frame.before + frame.between.join(packed) + frame.after
        assert whole == encode_request(request)
        assert frame.size(len(texts), sum(map(len, packed))) == len(whole)
