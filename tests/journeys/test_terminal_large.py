"""Many texts in the terminal. Answers come out of order; each must find its own text."""

import csv
import random
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.practice.local_models import choose_model
from tests.journeys.terminal import Terminal, read_csv
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


@pytest.fixture
def terminal(terminal: Terminal, service: str) -> Terminal:
    terminal.connect(service)
    return terminal


def test_thousands_of_texts_get_their_own_vectors(terminal: Terminal, tmp_path: Path) -> None:
    rows = [(f"{number:07}", text, f"colour {number % 7}") for number, text in enumerate(sentences(TEXTS, seed=1))]
    texts = write(tmp_path / "texts.csv", [("id", "text", "colour"), *rows])
    embed = ("run", texts, "--embed", "--connection", "cloudflare", "--json")
    ended = terminal.run(*embed, "--out", tmp_path / "v.npy", "--out", tmp_path / "v.csv")
    assert ended.status == 0
    assert (ended.json["rows_in"], ended.json["rows_sent"], ended.json["problems"]) == (TEXTS, TEXTS, [])
    vectors = np.load(tmp_path / "v.npy")
    np.testing.assert_allclose(vectors, choose_model().embed([text for _, text, _ in rows]), atol=1e-3)
    taken = read_csv(tmp_path / "v.csv")
    assert [(row["id"], row["text"], row["colour"]) for row in taken] == rows
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
    ended = terminal.run("run", file, "--rank", "--connection", "cloudflare", "--name", "many")
    assert ended.status == 0
    assert terminal.run("export", "many", "--out", tmp_path / "ranked.csv").status == 0
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
        ranks = [1 + sum(other > score for other in scores) for score in scores]
        assert [int(row["rank"].rstrip("=")) for row in found] == ranks
        for row, score in zip(found, scores, strict=True):
            number = int(row["number"])
            assert (row["doc_id"], row["text"]) == (f"{number:05}", contexts[number])
            assert (row["query"], row["colour"]) == (queries[number // 20], f"colour {number % 7}")
            assert abs(score - float(of_query[number // 20] @ of_context[number])) < 1e-3
