"""Many texts in the terminal, undisturbed and disturbed. Answers come out of order; each must find its own text."""

import csv
import random
import signal
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.practice.local_models import choose_model
from tests.journeys.terminal import Terminal, practice_service, read_csv
from tests.thorough import tries

TEXTS = tries(4_200, 10_000)  # of which a batch takes 2,000
QUERIES = tries(200, 1_000)
pytestmark = pytest.mark.thorough

WORDS = ("orange", "cloud", "llama", "parcel", "invoice", "password", "garden", "river", "train", "coffee", "snow")


def sentences(count: int, seed: int) -> Iterator[str]:
    source = random.Random(seed)
    for number in range(count):
        yield f'{" ".join(source.choices(WORDS, k=6))}, "no." {number:,}'


def write(path: Path, rows: list[tuple[str, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return path


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with practice_service(tmp_path_factory.mktemp("service"), queued=0.5, running=0.5) as url:
        yield url


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [(f"{number:07}", text, f"colour {number % 7}") for number, text in enumerate(sentences(TEXTS, seed=1))]
    return write(tmp_path_factory.mktemp("texts") / "texts.csv", [("id", "text", "colour"), *rows])


@pytest.fixture
def terminal(terminal: Terminal, service: str) -> Terminal:
    terminal.connect(service)
    return terminal


def embed(texts: Path, *out: Path) -> tuple[object, ...]:
    options = [option for path in out for option in ("--out", path)]
    return ("run", texts, "--embed", "--connection", "cloudflare", *options)


@pytest.fixture(scope="module")
def undisturbed(service: str, texts: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    terminal = Terminal(folder / "data")
    terminal.connect(service)
    assert terminal.run(*embed(texts, folder / "whole.csv")).status == 0
    return (folder / "whole.csv").read_bytes()


def test_thousands_of_texts_get_their_own_vectors(terminal: Terminal, texts: Path, tmp_path: Path) -> None:
    ended = terminal.run(*embed(texts, tmp_path / "v.npy", tmp_path / "v.csv"), "--json")
    assert ended.status == 0
    assert (ended.json["rows_in"], ended.json["rows_sent"], ended.json["problems"]) == (TEXTS, TEXTS, [])
    brought = read_csv(texts)
    vectors = np.load(tmp_path / "v.npy")
    expected = choose_model().embed([row["text"] for row in brought])
    np.testing.assert_allclose(vectors, expected, atol=1e-3)

    taken = read_csv(tmp_path / "v.csv")
    assert [(row["id"], row["text"], row["colour"]) for row in taken] == [
        (row["id"], row["text"], row["colour"]) for row in brought
    ]
    last = f"dim_{vectors.shape[1] - 1}"
    assert np.array_equal(np.array([row[last] for row in taken], dtype=np.float32), vectors[:, -1])


def test_many_queries_with_twenty_contexts_each(terminal: Terminal, tmp_path: Path) -> None:
    queries = list(sentences(QUERIES, seed=2))
    contexts = list(sentences(20 * QUERIES, seed=3))
    rows = [
        (queries[number // 20], f"{number:05}", text, f"colour {number % 7}", str(number))
        for number, text in enumerate(contexts)
    ]
    random.Random(4).shuffle(rows)  # rows of one query need not stand together
    file = write(tmp_path / "in.csv", [("query", "doc_id", "text", "colour", "number"), *rows])
    ended = terminal.run("run", file, "--rank", "--connection", "cloudflare", "--out", tmp_path / "ranked.csv")
    assert ended.status == 0
    ranked = read_csv(tmp_path / "ranked.csv")
    assert len(ranked) == 20 * QUERIES
    assert ended.out.count("\n") == QUERIES + 20 * QUERIES + QUERIES - 1

    order = list(dict.fromkeys(row[0] for row in rows))
    assert [key for key, _ in groupby(ranked, key=lambda row: row["query"])] == order
    model = choose_model()
    of_query, of_context = model.embed(queries), model.embed(contexts)
    for _, group in groupby(ranked, key=lambda row: row["query"]):
        found = list(group)
        scores = [float(row["score"]) for row in found]
        assert scores == sorted(scores, reverse=True)
        assert [int(row["rank"].rstrip("=")) for row in found] == [
            1 + sum(s > score for s in scores) for score in scores
        ]
        for row, score in zip(found, scores, strict=True):
            number = int(row["number"])
            assert (row["doc_id"], row["text"]) == (f"{number:05}", contexts[number])
            assert (row["query"], row["colour"]) == (queries[number // 20], f"colour {number % 7}")
            assert abs(score - float(of_query[number // 20] @ of_context[number])) < 1e-3


MOMENTS = (
    ("to send · 1 sending · 1 queued", signal.SIGKILL, -signal.SIGKILL),
    ("collecting", signal.SIGINT, 130),
    (r" \d+ queued", signal.SIGTERM, 143),
    (r"^0 of \d+ batches done · \d+ queued$", signal.SIGKILL, -signal.SIGKILL),
    (r"^[1-9] of \d+ batches done", signal.SIGKILL, -signal.SIGKILL),
)


@pytest.mark.parametrize(("moment", "end", "status"), MOMENTS[: tries(3, 5)])
def test_a_run_that_is_cut_short_and_resumed_leaves_the_same_file(
    terminal: Terminal, texts: Path, undisturbed: bytes, tmp_path: Path, moment: str, end: signal.Signals, status: int
) -> None:
    cut = tmp_path / "cut.csv"
    ended = terminal.run_until(moment, end, *embed(texts, cut))
    assert ended.status == status
    assert not cut.exists()
    if end is not signal.SIGKILL:
        assert "“cfbatch resume" in ended.err
    (job,) = terminal.jobs()
    assert terminal.run("show", job["job"]).status == 0

    resumed = terminal.run("resume")
    if resumed.status == 3:  # the end came while a batch was on its way: nobody but the user may send it again
        assert end is signal.SIGKILL
        assert "Outcome unknown" in resumed.err
        assert f"Not written yet: {cut}" in resumed.err
        assert not cut.exists()
    else:
        assert resumed.status == 0
        assert cut.read_bytes() == undisturbed
        assert terminal.run("resume").err.startswith("There is nothing to resume")
