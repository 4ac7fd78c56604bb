"""The distribution of scores, and the baseline of other pairs."""

import sqlite3
from contextlib import closing
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.results.score_table import score_figures
from tests.core.results.folders import FAILED, WAITING, Pair, Table

QUERIES = tuple(
    f"how do I {verb} it"
    for verb in ("reset", "refund", "change", "export", "pay", "cancel", "move", "name", "share", "find")
)


def crossed(texts: int, *, label: str = "") -> list[Pair]:
    """Every text with every query; a text has its highest score with the query of its own number."""
    return [
        Pair(query, f"text {text}", 0.9 if text % len(QUERIES) == number else 0.1 + text / 1000, label=label)
        for number, query in enumerate(QUERIES)
        for text in range(texts)
    ]


@pytest.mark.parametrize(
    ("pairs", "other_pairs"),
    [
        ([Pair(f"q{index}", f"text {index}", 0.5) for index in range(50)], 0),
        ([pair for pair in crossed(30) if pair.query != QUERIES[0]], 216),
        (crossed(2), 10),
    ],
)
def test_without_enough_other_pairs_there_is_no_baseline(table: Table, pairs: list[Pair], other_pairs: int) -> None:
    figures = score_figures(table.rank(pairs).folder)
    assert (figures.others, figures.other_pairs) == (None, other_pairs)
    assert not figures.other_counts.any()


def test_other_pairs_are_texts_that_fit_another_query_better(table: Table) -> None:
    figures = score_figures(table.rank(crossed(30)).folder)
    assert figures.other_pairs == 270
    assert figures.others is not None
    assert figures.others.highest == pytest.approx(0.129)
    assert figures.other_counts.sum() == 270
    assert figures.above == 30 + int(figures.others.count * 0.1)


@pytest.mark.parametrize(("queries", "texts", "dimension", "most"), [(40, 60, 16, 0.12), (10, 100, 64, 0.20)])
def test_where_every_query_has_every_text_about_one_far_pair_in_ten_lies_above(
    table: Table, queries: int, texts: int, dimension: int, most: float
) -> None:
    draw = np.random.default_rng(7)
    asked, found, strange = (draw.standard_normal((count, dimension)) for count in (queries, texts, 4_000))
    if texts < 100:  # else no text answers a question
        found += 2 * asked[np.arange(texts) % queries]
    found /= np.linalg.norm(found, axis=1)[:, None]
    scores = asked @ found.T / np.linalg.norm(asked, axis=1)[:, None]
    pairs = [Pair(f"q{q}", f"t{t}", float(scores[q, t])) for q in range(queries) for t in range(texts)]
    figures = score_figures(table.rank(pairs).folder)
    assert figures.others is not None
    far = strange @ found.T / np.linalg.norm(strange, axis=1)[:, None]  # with queries that nothing was picked for
    assert 0.08 <= float((far > figures.others.ninetieth).mean()) <= most


def test_a_text_that_stands_first_is_related_though_it_fits_another_query_better(table: Table) -> None:
    pairs = [*crossed(30), Pair("forgot the password", "text 0", 0.8), Pair("forgot the password", "text 1", 0.2)]
    figures = score_figures(table.rank(pairs).folder)
    assert figures.other_pairs == 271
    assert figures.others is not None
    assert figures.others.highest == pytest.approx(0.2)


def test_what_a_label_calls_relevant_is_related(table: Table) -> None:
    assert score_figures(table.rank(crossed(30, label="1")).folder).other_pairs == 0


def test_labels_of_shared_texts_say_nothing_of_a_pair(table: Table) -> None:
    folder = table.rank(crossed(30, label="1")).folder
    with closing(sqlite3.connect(folder.data)) as database, database:
        schema.put_metadata_value(database, "layout", "shared")
    assert score_figures(folder).other_pairs == 270


def test_shared_first_ranks_are_counted(table: Table) -> None:
    pairs = [
        Pair("a", "1", 0.5),
        Pair("a", "2", 0.5),
        Pair("b", "3", 0.5),
        Pair("b", "4", 0.25),
        Pair("c", "5", FAILED),
    ]
    assert score_figures(table.rank(pairs).folder).first_tied == 1


@pytest.mark.parametrize("score", [0.0, -7.25, 3e8])
def test_one_single_score_has_a_histogram_of_its_own(table: Table, score: float) -> None:
    figures = score_figures(table.rank([Pair("q", "a", score)]).folder)
    assert figures.counts.sum() == 1
    assert figures.edges[0] <= score <= figures.edges[-1]
    assert np.all(np.diff(figures.edges) > 0)


@settings(max_examples=20, deadline=None)
@given(
    step=st.sampled_from([0.001, 0.01, 0.02, 0.025, 0.05, 0.1, 0.25, 1.0]),
    numbers=st.lists(st.integers(-60, 60), min_size=1, max_size=40),
)
def test_a_score_on_an_edge_counts_in_the_bin_at_its_right(
    tmp_path_factory: pytest.TempPathFactory, step: float, numbers: list[int]
) -> None:
    decimal = [number * Decimal(str(step)) for number in numbers]
    table = Table(tmp_path_factory.mktemp("job"))
    figures = score_figures(table.rank([Pair("q", f"{n}", float(score)) for n, score in enumerate(decimal)]).folder)
    edges = [Decimal(repr(edge)) for edge in figures.edges.tolist()]  # repr: the decimal number that the edge is for
    expected = [sum(low <= score < high for score in decimal) for low, high in pairwise(edges)]
    assert figures.counts.tolist() == expected
    assert figures.counts.sum() == len(numbers)


def test_nothing_has_come_back(table: Table) -> None:
    figures = score_figures(table.rank([Pair("q", "a", WAITING)]).folder)
    assert figures.spread is None
    assert (figures.scored, figures.contexts, len(figures.counts)) == (0, 1, 0)
