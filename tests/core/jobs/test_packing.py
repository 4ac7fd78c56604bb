"""Packing sends every text once and in order, as it was read; no batch or request exceeds a limit; a repeated text is
sent once for all its rows, and a long one in parts, of which the best counts.
"""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.errors import DataError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind, Split
from cfbatch_gui.core.job_folder.checksums import read_pairs
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.plan.packing import Plan, body_of, plan
from cfbatch_gui.core.jobs.plan.preflight import examine
from cfbatch_gui.core.jobs.plan.requests import too_long_texts
from cfbatch_gui.core.jobs.run.collecting import collect
from cfbatch_gui.core.jobs.run.job_actions import sent
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.workers_ai.answers import Finished, read_answer
from cfbatch_gui.core.workers_ai.catalogue import DEFAULT_MODEL, MODELS, find_model
from cfbatch_gui.core.workers_ai.estimate import count_tokens, tokens_lower, tokens_most, tokens_upper
from cfbatch_gui.core.workers_ai.limits import MAX_BODY_BYTES
from tests.core.jobs.conftest import Bench, Clock, opened_bench
from tests.support.inputs import as_suggested
from tests.support.sentences import refuses
from tests.thorough import tries

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
LONG = "word " * 20_000  # longer than any model reads
Queries = list[tuple[str | None, list[str]]]


def filled(path: Path, queries: Queries, split: Split | None = None) -> JobFolder:
    """A job's folder with these queries and their contexts, read from a file; a query of None is for texts alone."""
    pairs = [(query, text) for query, texts in queries for text in texts]
    rows = [{"text": text} if query is None else {"query": query, "context": text} for query, text in pairs]
    file = path.with_name("rows.jsonl")
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    folder = JobFolder(path)
    fill(folder, *as_suggested(file, Kind.EMBED if queries[0][0] is None else Kind.RANK, split=split))
    return folder


def job(kind: Kind, *, model: str = DEFAULT_MODEL, truncate: bool = True) -> Job:
    return Job("abc", "n", kind, model, "practice", 0.0, options=JobOptions(truncate_inputs=truncate))


def packed(folder: JobFolder, kind: Kind) -> tuple[Plan, list[bytes]]:
    """The plan, which is the one that a trial shows, and its bodies, as large as planned."""
    tried = plan(folder, job(kind), is_trial=True)
    planned = plan(folder, job(kind))
    made = [body_of(folder, job(kind), batch) for batch in planned.batches]
    assert tried == planned
    assert [len(body) for body in made] == [batch.bytes for batch in planned.batches]
    assert all(len(body) <= MAX_BODY_BYTES for body in made)
    for query, texts in requests_in(made):
        longest = max(min(tokens_upper(text), 8_192) for text in (*texts, query or ""))
        assert (len(texts) + (query is not None)) * longest <= 60_000 and (kind is Kind.RANK or len(texts) <= 100)
    references = [each["external_reference"] for body in made for each in json.loads(body)["requests"]]
    assert len(set(references)) == len(references)
    return planned, made


def requests_in(bodies: list[bytes]) -> list[tuple[str | None, list[str]]]:
    """The query and the texts of each."""
    found = [each for body in bodies for each in json.loads(body)["requests"]]
    return [(each.get("query"), each.get("text") or [one["text"] for one in each["contexts"]]) for each in found]


@pytest.mark.parametrize("block", [250, 100_000])
@pytest.mark.parametrize(
    ("queries", "split"),
    [
        ([(None, [*ODD, *(f"{ODD[n % len(ODD)]} {n}" for n in range(2_100))])], None),
        ([(None, [f"text {n % 700} {ODD[n % 3]}" for n in range(1_500)])], None),
        ([(f'query {n} "“', [f"{ODD[m % len(ODD)]} {n} {m}" for m in range(7)]) for n in range(130)], None),
        ([(f"query {n % 90}", [f"context {n}"]) for n in range(900)], None),
        ([("q", [f"context {n} " + "x" * 900 for n in range(700)]), ("r", ["one"])], None),
        ([("wet clouds", [f"{n}. " + "Wolken sind nass. " * (n % 90) for n in range(400)])], Split(64, 8)),
    ],
    ids=["texts", "repeats", "pairs", "mixed pairs", "many contexts", "parts"],
)  # fmt: skip
def test_each_text_goes_out_as_it_was_read_with_its_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, queries: Queries, split: Split | None, block: int
) -> None:
    monkeypatch.setattr(requests, "_BLOCK", block)
    folder = filled(tmp_path / "job", queries, split)
    kind = Kind.EMBED if queries[0][0] is None else Kind.RANK
    planned, bodies = packed(folder, kind)
    sent: dict[str | None, list[str]] = {}
    for query, texts in requests_in(bodies):
        sent.setdefault(query, []).extend(texts)
    wanted: dict[str | None, list[str]] = {}
    for query, texts in queries:
        wanted.setdefault(query, []).extend(texts)
    assert sum(map(len, sent.values())) == planned.sent_texts
    if split is None:
        assert sent == {query: list(dict.fromkeys(texts)) for query, texts in wanted.items()}
    else:
        assert all(tokens_upper(text) <= split.tokens for texts in sent.values() for text in texts)
        assert planned.sent_texts > sum(map(len, wanted.values()))


def test_ten_megabytes_are_never_reached(tmp_path: Path) -> None:
    planned, _ = packed(filled(tmp_path / "job", [(None, [f"{n}{'ü' * 30_000}" for n in range(340)])]), Kind.EMBED)
    assert len(planned.batches) >= 3 and planned.sent_texts == 340


@pytest.mark.parametrize(
    ("queries", "truncate", "texts", "left_out", "too_long"),
    [
        ([(None, ["fine", "x" * 11_000_000])], True, 1, 1, 1),  # more than a batch
        ([(None, ["fine", LONG])], False, 1, 1, 1),
        ([(None, ["fine", LONG])], True, 2, 0, 1),
        ([(LONG, ["a", "b"]), ("short", ["c"])], False, 1, 2, 2),
        ([(LONG, ["a", "b"]), ("short", ["c"])], True, 3, 0, 1),  # the query, counted once
        ([(None, [LONG, LONG, LONG, "語" * 8_193])], False, 1, 3, 4),  # not counted off from what is cut
    ],
)
def test_what_is_too_long_is_cut_or_left_out_and_said(
    tmp_path: Path, queries: Queries, truncate: bool, texts: int, left_out: int, too_long: int
) -> None:
    folder = filled(tmp_path / "job", queries)
    kind = Kind.EMBED if queries[0][0] is None else Kind.RANK
    for _ in range(2):  # planning again starts afresh
        planned = plan(folder, job(kind, truncate=truncate))
        assert (planned.sent_texts, planned.left_out, planned.too_long + planned.left_out) == (
            texts,
            left_out,
            too_long,
        )
        with folder.open() as database:
            assert database.execute("SELECT count(*) FROM problems").fetchone() == (left_out,)


def test_only_a_model_that_ranks_is_asked_to_rank(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        plan(filled(tmp_path / "job", [("q", ["a"])]), job(Kind.RANK, model="@cf/baai/bge-base-en-v1.5"))


METADATA = replace(find_model(DEFAULT_MODEL), max_tokens=512)
LONGER, DOUBTFUL, SHORT = "word " * 600, "word " * 340, "word " * 200
DENSE = "長い質問です。" * 100  # 700 tokens at most; far fewer with a vocabulary for Japanese
TEXTS = f"sku,text\na,{SHORT}\nb,{LONGER}\nc,{DOUBTFUL}\nd,{LONGER}more\n"
RANKING = (
    f"query,text,label\n{LONGER},one,1\n{DENSE},two,0\n{DENSE},three,1\n{'7' * 1400},four,0\n"
    f"short,{LONGER}five,1\nshort,six,1\n"
)


@pytest.mark.parametrize(
    ("content", "kind", "truncate", "split", "expected"),
    [
        (TEXTS, Kind.EMBED, False, None, [(4, 569)]),
        (TEXTS, Kind.EMBED, True, Split(200), []),
        # Queries too, each once, and dense ones counted closely.
        (RANKING, Kind.RANK, True, None, [(2, 1_002), (3, 702), (5, 702), (6, 1_004)]),
        (RANKING, Kind.RANK, False, None, [(3, 702), (5, 702)]),  # that only may be too long
    ],
)
def test_texts_of_which_the_model_may_read_the_beginning_only_are_named(
    tmp_path: Path,
    write: Write,
    content: str,
    kind: Kind,
    truncate: bool,
    split: Split | None,
    expected: list[tuple[int, int]],
) -> None:
    folder = JobFolder(tmp_path / "job")
    fill(folder, *as_suggested(write("rows.csv", content), kind, split=split))
    preflight = examine(folder, job(kind, truncate=truncate), METADATA)
    found = list(too_long_texts(folder, METADATA))
    assert [(each.row, each.reason.parameters["high"]) for each in found] == expected  # type: ignore[attr-defined]
    assert len(found) == preflight.too_long
    assert len(list(too_long_texts(folder, METADATA, limit=1))) == min(1, len(found))
    assert [each.cells for each in found] == [tuple(content.split("\n")[each.row - 1].split(",")) for each in found]


async def test_what_is_not_laid_out_as_the_ledger_knows_it_is_not_packed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 20)
    draft = bench.draft(bench.write("texts.txt", "\n".join(f"text number {n}" for n in range(95))), Kind.EMBED)
    folder = bench.store.folder(draft.id)
    planned = sent(draft, plan(folder, draft), 0.0, draft)
    assert len(planned.batches) == 5
    with refuses(DataError, "job_requests_are_not_laid_out"):
        body_of(folder, planned, replace(planned.batches[2], requests=9))


def finished(answers: list[dict[str, object]], references: list[str]) -> Finished:
    responses = [
        {"id": place, "result": answer, "success": True, "external_reference": reference}
        for place, (answer, reference) in enumerate(zip(answers, references, strict=True))
    ]
    found = read_answer(json.dumps({"responses": responses}).encode())
    assert isinstance(found, Finished)
    return found


def test_the_same_text_is_sent_once_and_answered_everywhere(tmp_path: Path) -> None:
    texts = ["red lamp", "blue chair", "red lamp", "green table", "blue chair", "red lamp"]
    folder = filled(tmp_path / "job", [(None, texts)])
    planned, bodies = packed(folder, Kind.EMBED)
    assert (planned.sent_texts, planned.repeated, planned.left_out) == (3, 3, 0)
    assert requests_in(bodies)[0][1] == ["red lamp", "blue chair", "green table"]
    vectors = [[float(n), 1.0] for n in range(3)]
    answer: dict[str, object] = {"data": vectors, "shape": [3, 2], "pooling": "cls"}
    collect(folder, Kind.EMBED, 1, finished([answer], ["abc-1"]))
    assert np.load(folder.vectors)[:, 0].tolist() == [0.0, 1.0, 0.0, 2.0, 1.0, 0.0]


@pytest.mark.parametrize("split", [None, Split(100, 10)])
def test_shared_contexts_are_those_of_each_query_named_apart(tmp_path: Path, write: Write, split: Split | None) -> None:
    long_text = " ".join(f"Sentence number {n} is here." for n in range(60))
    contexts = ["one", long_text, "one", "two", long_text]
    first = write("q.csv", "query\nwhy\nwho\nwhy\nhow\n")
    second = write("c.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in contexts))
    shared, apart = JobFolder(tmp_path / "shared"), tmp_path / "apart"
    read = fill(shared, *as_suggested(first, Kind.RANK, second, split=split))
    assert (read.queries, read.texts) == (4, 20)  # an equal query is sent once, and is a row of its own
    planned, bodies = packed(shared, Kind.RANK)
    assert bodies == packed(filled(apart, [(q, contexts) for q in ("why", "who", "how")], split), Kind.RANK)[1]
    assert planned.repeated == 6 + 5


def test_a_long_text_is_ranked_by_its_best_part(tmp_path: Path) -> None:
    long_text = " ".join(f"Sentence number {n} is here." for n in range(60))
    folder = filled(tmp_path / "job", [("why is it so", [long_text, "a short one", long_text])], Split(100, 10))
    planned, bodies = packed(folder, Kind.RANK)
    texts = requests_in(bodies)[0][1]
    assert len(texts) == planned.sent_texts > 4
    assert texts[-1] == "a short one"
    assert all(tokens_upper(text) <= 100 for text in texts)
    assert all(part in long_text for part in texts[:-1])
    scores = [{"id": place, "score": 0.9 if place == 2 else 0.1} for place in range(len(texts))]
    collect(folder, Kind.RANK, 1, finished([{"response": scores}], ["abc-1"]))
    with folder.open(read_only=True) as database:
        assert read_pairs(database)["score"].tolist() == [0.9, 0.1, 0.9]


@given(st.lists(st.text(), max_size=20))
def test_tokens_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    upper, lower = count_tokens(texts)
    assert upper.tolist() == [tokens_upper(text) for text in texts]
    assert lower.tolist() == [tokens_lower(text) for text in texts]


PIECES = ("why", " ", "", "\n", "=1+1", '"', "\\", "\0", "\ud800", "🌍", "日本語", "ß", "\u2028", "<|endoftext|>")
REPEATED = ("wort ", "語", "🌍", "é", "x", " ", "9,", "a\n", "AB-47 ", "{}")


def text(chance: random.Random) -> str:
    if chance.random() < 0.15:
        return chance.choice(REPEATED) * chance.choice((100, 511, 513, 8_193, 30_000))
    return "".join(chance.choices(PIECES, k=chance.randrange(1, 6)))


def rows(chance: random.Random, kind: Kind) -> list[dict[str, str]]:
    count = chance.choice((1, 2, 5, 101, 250))
    texts = [f"text {number}" for number in range(count)] if count > 100 else [text(chance) for _ in range(count)]
    if kind is Kind.EMBED:
        return [{"text": each} for each in texts]
    queries = [text(chance) for _ in range(chance.randrange(1, 5))]
    return [{"query": query, "context": each} for query in queries for each in texts]


@pytest.mark.thorough
@pytest.mark.timeout(tries(120, 3600))
@pytest.mark.parametrize("kind", list(Kind))
async def test_what_passes_the_checks_is_accepted(tmp_path: Path, clock: Clock, kind: Kind) -> None:
    accepted, at_once = 0, {"seconds_queued": 0.0, "seconds_running": 0.0}
    async with opened_bench(tmp_path, clock, **at_once, load_model=HashedNgrams) as bench:
        for number in range(tries(4, 600)):
            chance = random.Random(f"{kind} {number}")
            made, path = rows(chance, kind), tmp_path / f"{number}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in made))
            model = chance.choice([each for each in MODELS if each.can_rank or kind is Kind.EMBED])
            split = Split(chance.choice((16, 100, 500)), chance.choice((0, 4))) if chance.random() < 0.3 else None
            job = bench.draft(path, kind, model=model.name, split=split)
            pooling = chance.choice(("", *model.poolings))
            chosen = JobOptions(chance.random() < 0.6, pooling, at_once=chance.random() < 0.3, reuse=False)
            job = bench.drafts.change(job.id, options=chosen)
            seen = bench.drafts.examine(job.id)
            if seen.blocker:
                continue
            job = await bench.run(job)
            # A query of "up to 9,000 tokens" may be too long; the checks have warned of it.
            is_warned = seen.too_long > 0 or any(tokens_most(row.get("query", "")) > model.max_tokens for row in made)
            refused = {batch.error_detail or batch.error for batch in job.batches if batch.error}
            assert all(is_warned and "Sequence too long" in error for error in refused), refused
            accepted += len(job.batches)
    assert accepted > 0
