"""Packing sends every item once and in order, and no batch or request exceeds a limit."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.errors import DataError, UsageError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Split
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import write_queue
from cfbatch_gui.core.job_folder.text_lengths import LengthWriter
from cfbatch_gui.core.jobs.plan import packing, requests
from cfbatch_gui.core.jobs.plan.packing import bodies_of, plan
from cfbatch_gui.core.jobs.plan.preflight import examine
from cfbatch_gui.core.jobs.plan.requests import too_long_texts
from cfbatch_gui.core.jobs.run.job_actions import sent
from cfbatch_gui.core.jobs.states import Job, JobOptions, JobState
from cfbatch_gui.core.workers_ai.catalogue import DEFAULT_MODEL, find_model
from cfbatch_gui.core.workers_ai.estimate import tokens_upper
from cfbatch_gui.core.workers_ai.limits import MAX_BODY_BYTES
from tests.bodies import body_of
from tests.core.jobs.conftest import Bench
from tests.parsed_requests import parse_requests
from tests.thorough import tries

BGE_M3 = "@cf/baai/bge-m3"


def filled(path: Path, queries: list[tuple[str | None, list[str]]]) -> JobFolder:
    """A job folder with these queries and their contexts; a query of None is for texts without one."""
    folder = JobFolder(path)
    folder.create()
    schema.create(folder.data)
    item = 0
    with schema.opened(folder.data, any_thread=True) as database, schema.transaction(database):
        for number, (query, texts) in enumerate(queries, 1):
            if query is not None:
                database.execute("INSERT INTO queries VALUES(?, '', ?, ?)", (number, query, number))
            for position, text in enumerate(texts, 1):
                item += 1
                database.execute("INSERT INTO texts VALUES(?, '', ?, '', 1, ?)", (item, text, item))
                database.execute(
                    "INSERT INTO items(item_no, query_no, text_no, position) VALUES(?, ?, ?, ?)",
                    (item, number if query is not None else None, item, position),
                )
        with write_queue(database) as writes:
            lengths = LengthWriter(writes)
            lengths.add([text for _, texts in queries for text in texts])
            lengths.write_all()
    return folder


def job(kind: Kind, *, model: str = BGE_M3, truncate: bool = True) -> Job:
    return Job("abc", "n", kind, model, "practice", 0.0, options=JobOptions(truncate_inputs=truncate))


def bodies(folder: JobFolder, of: Job, plan: packing.Plan) -> list[bytes]:
    return [body_of(folder, of, batch.number) for batch in plan.batches]


sometimes_long = st.one_of(st.text(min_size=1, max_size=30), st.integers(1, 25_000).map(lambda n: "wort " * n))


@given(st.lists(sometimes_long.filter(lambda text: text.isprintable()), min_size=1, max_size=250))
@pytest.mark.thorough
@settings(max_examples=tries(10, 500), deadline=None, suppress_health_check=list(HealthCheck))
def test_texts_are_each_sent_once_and_in_order(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = filled(tmp_path_factory.mktemp("job"), [(None, texts)])
    plan = packing.plan(folder, job(Kind.EMBED))
    sent = bodies(folder, job(Kind.EMBED), plan)
    requests = [request for body in sent for request in parse_requests(body)]
    assert [text for request in requests for text in request.texts] == texts  # type: ignore[union-attr]
    assert len({request.reference for request in requests}) == len(requests)
    for request in requests:
        assert len(request.texts) <= 100  # type: ignore[union-attr]
        longest = max(min(tokens_upper(text), 8_192) for text in request.texts)  # type: ignore[union-attr]
        assert len(request.texts) * longest <= 60_000  # type: ignore[union-attr]
    assert [len(body) for body in sent] == [batch.bytes for batch in plan.batches]
    assert all(len(body) <= MAX_BODY_BYTES for body in sent)


def test_a_query_with_many_contexts_is_cut_into_requests(tmp_path: Path) -> None:
    contexts = [f"context {n} " + "x" * 900 for n in range(700)]
    folder = filled(tmp_path, [("q", contexts), ("r", ["one"])])
    plan = packing.plan(folder, job(Kind.RANK))
    requests = [json.loads(body)["requests"] for body in bodies(folder, job(Kind.RANK), plan)]
    flat = [request for batch in requests for request in batch]
    assert [c["text"] for r in flat if r["query"] == "q" for c in r["contexts"]] == contexts
    assert len(flat) > 2 and plan.queries == 2 and plan.texts == 701


def test_ten_megabytes_are_never_reached(tmp_path: Path) -> None:
    texts = ["ü" * 30_000 for _ in range(340)]  # 60 kB of UTF-8 each
    folder = filled(tmp_path, [(None, texts)])
    plan = packing.plan(folder, job(Kind.EMBED))
    assert len(plan.batches) >= 3 and plan.texts == 340
    assert max(batch.bytes for batch in plan.batches) < 10_000_000


def test_a_text_larger_than_a_batch_is_left_out_and_said(tmp_path: Path) -> None:
    folder = filled(tmp_path, [(None, ["fine", "x" * 11_000_000])])
    plan = packing.plan(folder, job(Kind.EMBED))
    assert plan.texts == 1 and plan.left_out == 1
    with folder.open() as database:
        assert "10 MB" in database.execute("SELECT reason FROM problems").fetchone()[0]


def test_texts_that_are_too_long_are_left_out_when_they_may_not_be_cut(tmp_path: Path) -> None:
    folder = filled(tmp_path, [(None, ["fine", "word " * 20_000])])
    assert packing.plan(folder, job(Kind.EMBED, truncate=False)).texts == 1
    cut = packing.plan(folder, job(Kind.EMBED))
    assert cut.texts == 2 and cut.too_long == 1 and cut.left_out == 0


def test_planning_again_starts_afresh(tmp_path: Path) -> None:
    folder = filled(tmp_path, [(None, ["a", "word " * 20_000])])
    packing.plan(folder, job(Kind.EMBED, truncate=False))
    again = packing.plan(folder, job(Kind.EMBED))
    with folder.open() as database:
        assert database.execute("SELECT count(*) FROM problems").fetchone() == (0,)
    assert again.texts == 2


def test_only_a_model_that_ranks_is_asked_to_rank(tmp_path: Path) -> None:
    folder = filled(tmp_path, [("q", ["a"])])
    with pytest.raises(UsageError, match="cannot rank"):
        packing.plan(folder, job(Kind.RANK, model="@cf/baai/bge-base-en-v1.5"))


def test_a_query_that_is_too_long_is_left_out_with_its_contexts_or_cut(tmp_path: Path) -> None:
    folder = filled(tmp_path, [("word " * 20_000, ["a", "b"]), ("short", ["c"])])
    left = packing.plan(folder, job(Kind.RANK, truncate=False))
    assert (left.texts, left.left_out, left.too_long) == (1, 2, 2)
    cut = packing.plan(folder, job(Kind.RANK))
    assert (cut.texts, cut.left_out, cut.too_long) == (3, 0, 1)  # the query, counted once


def test_what_is_left_out_is_not_counted_off_from_what_is_cut(tmp_path: Path) -> None:
    write, folder = tmp_path / "a.csv", JobFolder(tmp_path / "job")
    folder.create()
    write.write_text("id,text\n" + f"1,{'word ' * 20_000}\n" * 3 + f"2,{'語' * 8_193}\n", "utf-8")
    source = open_source(write)
    fill(folder, source, suggest_mapping(source, Kind.EMBED, preview(source)))
    plan = packing.plan(folder, job(Kind.EMBED, truncate=False))
    assert (plan.left_out, plan.too_long - plan.left_out) == (3, 1)


METADATA = replace(find_model(DEFAULT_MODEL), max_tokens=512)
LONG, DOUBTFUL, SHORT = "word " * 600, "word " * 340, "word " * 200


DENSE = "長い質問です。" * 100  # 700 tokens at most; far fewer with a vocabulary for Japanese
RANKING = (
    f"query,text,label\n{LONG},one,1\n{DENSE},two,0\n{DENSE},three,1\n{'7' * 1400},four,0\n"
    f"short,{LONG}five,1\nshort,six,1\n"
)


def found(tmp_path: Path, *, split: Split | None = None, options: JobOptions | None = None) -> list[tuple[int, str]]:
    path = tmp_path / "texts.csv"
    path.write_text(f"sku,text\na,{SHORT}\nb,{LONG}\nc,{DOUBTFUL}\nd,{LONG}more\n")
    source = open_source(path)
    mapping = suggest_mapping(source, Kind.EMBED, preview(source))
    folder = JobFolder(tmp_path / "job")
    fill(folder, source, type(mapping)(mapping.kind, mapping.layout, mapping.roles, split=split))
    job = Job("job", "Texts", Kind.EMBED, METADATA.name, "practice", 1.0, options=options or JobOptions())
    preflight = examine(folder, job, METADATA)
    rows = list(too_long_texts(folder, METADATA))
    assert all(row.cells[0] in "bcd" for row in rows)
    assert len(rows) == preflight.too_long
    return [(row.row, row.reason) for row in rows]


def test_not_those_that_are_left_out_or_go_in_parts(tmp_path: Path) -> None:
    assert [row for row, _ in found(tmp_path, options=JobOptions(truncate_inputs=False))] == [4]
    assert found(tmp_path, split=Split(200)) == []


def ranked(tmp_path: Path, *, truncate: bool) -> list[tuple[int, str]]:
    path = tmp_path / "pairs.csv"
    path.write_text(RANKING, encoding="utf-8")
    source = open_source(path)
    folder = JobFolder(tmp_path / "job")
    fill(folder, source, suggest_mapping(source, Kind.RANK, preview(source)))
    job = Job("job", "Pairs", Kind.RANK, METADATA.name, "practice", 1.0, options=JobOptions(truncate_inputs=truncate))
    preflight = examine(folder, job, METADATA)
    rows = list(too_long_texts(folder, METADATA))
    assert len(rows) == preflight.too_long
    assert len(list(too_long_texts(folder, METADATA, limit=1))) == 1
    assert all(row.cells == tuple(line.split(",")) for row in rows for line in [RANKING.split("\n")[row.row - 1]])
    return [(row.row, row.reason) for row in rows]


def test_queries_too_each_once_and_dense_ones_counted_closely(tmp_path: Path) -> None:
    assert ranked(tmp_path, truncate=True) == [
        (2, "The query: 750 to 1,002 tokens; the model reads 512."),
        (3, "The query: up to 702 tokens; the model reads 512."),
        (5, "The query: up to 702 tokens; the model reads 512."),
        (6, "751 to 1,004 tokens; the model reads 512."),
    ]


def test_queries_that_only_may_be_too_long_are_sent_and_named(tmp_path: Path) -> None:
    assert [row for row, _ in ranked(tmp_path, truncate=False)] == [3, 5]


Write = Callable[[str, str], Path]
TEXTS = "\n".join(f"text number {n}" for n in range(95))


def planned(bench: Bench, write: Write, monkeypatch: pytest.MonkeyPatch) -> tuple[JobFolder, Job]:
    """A planned job of five batches that has not been sent."""
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 20)
    job = bench.draft(write("texts.txt", TEXTS), Kind.EMBED)
    folder = bench.store.folder(job.id)
    return folder, sent(job, plan(folder, job), 0.0)(job)


def test_what_is_not_laid_out_as_the_ledger_knows_it_is_not_packed(
    bench: Bench, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, job = planned(bench, write, monkeypatch)
    assert len(job.batches) == 5
    broken = tuple(replace(each, requests=9) if each.number == 3 else each for each in job.batches)
    with pytest.raises(DataError, match="not laid out as they were"):
        list(bodies_of(folder, replace(job, batches=broken), (1, 2, 3)))


async def test_every_text_is_sent_once(bench: Bench, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 20)
    job = await bench.run(bench.draft(write("texts.txt", TEXTS), Kind.EMBED))
    assert job.state is JobState.DONE and len(bench.faulty.submits) == 5
    sent = [text for body in bench.accepted_bodies() for each in json.loads(body)["requests"] for text in each["text"]]
    assert sent == TEXTS.splitlines()
