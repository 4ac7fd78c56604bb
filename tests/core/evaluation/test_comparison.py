"""The comparison of rankings of several jobs over the same items, by query, and what it can tell."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.comparison import (
    Comparison,
    compare,
    overlaps,
    query_moves,
    summary,
    with_top,
    write_queries,
    write_texts,
)
from cfbatch_gui.core.evaluation.joining import Keys, MatchedBy, match, read_run, read_runs
from cfbatch_gui.core.evaluation.significance import LEAST_QUERIES, compare_pairs, holm, randomisation_p
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.rankings import ranks_of
from cfbatch_gui.core.results.score_table import hashed_id
from tests.core.evaluation.generated import run_of, scored
from tests.core.results.folders import FAILED, WAITING, Pair, Table
from tests.journeys.terminal import read_csv
from tests.support.sentences import refuses

BASE = [
    Pair("reset", "first", 0.9, id="A"),
    Pair("reset", "second", 0.5, id="B"),
    Pair("reset", "third", 0.5, id="C"),
    Pair("refund", "fourth", 0.4, id="D"),
    Pair("refund", "fifth", 0.3, id="E"),
]


def test_items_are_matched_in_whatever_order_they_come(tmp_path: Path) -> None:
    other = list(reversed(scored(BASE, 0.1, 0.2, 0.3, 0.1, 0.2)))
    compared = compare([run_of(tmp_path, BASE, "one"), run_of(tmp_path, other, "other")])
    assert [query.text for query in compared.queries] == ["reset", "refund"]
    assert compared.ranks[0].texts() == ["1", "2=", "2=", "1", "2"]
    assert compared.ranks[1].rank.tolist() == [3, 2, 1, 2, 1]
    assert compared.changes(1).tolist() == [-2, 0, 1, -1, 1]
    assert compared.joined[1].texts == {MatchedBy.ID_AND_TEXT: 5, MatchedBy.TEXT: 0, MatchedBy.ID: 0}
    for index, run in zip(compared.indices, compared.runs, strict=True):
        texts = run.texts(index.tolist())
        assert [texts[at].id for at in index.tolist()] == ["A", "B", "C", "D", "E"]


def test_only_what_all_have_scored_is_compared(tmp_path: Path) -> None:
    other = scored(BASE, 0.1, FAILED, 0.3, WAITING, WAITING)
    compared = compare([run_of(tmp_path, BASE, "one"), run_of(tmp_path, other, "other")])
    assert [query.text for query in compared.queries] == ["reset"]
    assert compared.ranks[0].texts() == ["1", "2"]  # among the two texts that both jobs have scored
    assert compared.is_partial
    assert not compared.runs[0].is_partial


def test_queries_without_an_id_are_matched_by_their_text_only(tmp_path: Path) -> None:
    other = [replace(pair, query=f"{pair.query}?") for pair in BASE]
    with refuses(UsageError, "names_no_query_text_common_both"):
        compare([run_of(tmp_path, BASE, "one"), run_of(tmp_path, other, "other")])


def test_queries_with_ids_are_matched_though_their_wording_differs(tmp_path: Path) -> None:
    other = [replace(pair, query=f"{pair.query}?") for pair in BASE]
    runs = [run_of(tmp_path, pairs, name) for name, pairs in (("one", BASE), ("other", other))]
    for run in runs:
        with run.folder.open() as database:
            database.execute("UPDATE queries SET query_id = 'q' || query_no")
    compared = compare([read_run(run.folder, run.job) for run in runs])
    assert compared.joined[1].queries[MatchedBy.ID] == 2
    assert len(compared.query) == 5


def test_vectors_order_the_pairs_of_a_ranking_that_they_have(tmp_path: Path) -> None:
    pairs: list[tuple[str, str, float | str]] = [
        *(("lamp?", "a lamp", 0.9), ("lamp?", "a hose", 0.2), ("lamp?", "not there", 0.1), ("lamp?", "later", WAITING)),
        *(("hose?", "a lamp", 0.3), ("hose?", "a hose", 0.3), ("Lamp?", "a lamp", 0.9)),
    ]
    ranking = Table(tmp_path / "ranking").rank([Pair(*each) for each in pairs])
    texts = ["lamp?", "a lamp", "a hose", "hose?", "a hose", "no vector"]
    vectors = np.random.default_rng(1).normal(size=(6, 16)).astype(np.float32)
    vectors[2], vectors[3] = vectors[0] * 0.5, -vectors[1]
    made = Table(tmp_path / "vectors").embed([("", text, 1.0) for text in texts], vectors)
    jobs = replace(made.job(), id="vectors"), replace(ranking.job(), id="ranking")
    compared = compare(read_runs(lambda job_id: JobFolder(tmp_path / job_id), jobs))
    assert [run.job.id for run in compared.runs] == ["vectors", "ranking"]
    assert compared.scores[1].tolist() == [0.9, 0.2, 0.3, 0.3]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert compared.scores[0] == pytest.approx([unit[0] @ unit[1], 1.0, -1.0, unit[3] @ unit[2]], abs=1e-6)
    assert compared.correlation(1) == pytest.approx(np.corrcoef(compared.scores[0], compared.scores[1])[0, 1])
    with pytest.raises(UsageError):
        read_runs(lambda job_id: JobFolder(tmp_path / job_id), [jobs[0], jobs[0]])


Thing = tuple[str, str]  # id, text


def keys(things: Sequence[Thing]) -> Keys:
    return Keys(
        np.zeros(len(things), dtype=np.int64),
        np.array([hashed_id(identifier) for identifier, _ in things], dtype=np.int64),
        np.array([hash(text) for _, text in things], dtype=np.int64),
    )


def matched_pairs(ours: Keys, theirs: Keys) -> list[tuple[int, int]]:
    one, other, _ = match(ours, theirs)
    return list(zip(one.tolist(), other.tolist(), strict=True))


@pytest.mark.parametrize(
    ("ours", "theirs", "pairs"),
    [
        ([("1", "lamp"), ("2", "hose")], [("1", "hose"), ("2", "lamp")], [(0, 1), (1, 0)]),
        ([("A", "lamp"), ("B", "lamp"), ("", "lamp")], [("B", "lamp"), ("C", "lamp")], [(0, 1), (1, 0)]),
        ([("1", "lamp"), ("1", "hose")], [("1", "rake")], []),
    ],
    ids=["text before id", "copies by id, else paired off", "an id that comes twice names nothing"],
)
def test_things_are_matched(ours: list[Thing], theirs: list[Thing], pairs: list[tuple[int, int]]) -> None:
    assert matched_pairs(keys(ours), keys(theirs)) == pairs


def test_a_shuffled_list_finds_itself() -> None:
    random = np.random.default_rng(2)
    things = [(f"{number % 700}" if number % 3 else "", f"text {number % 400}") for number in range(1_000)]
    order = random.permutation(len(things))
    found = matched_pairs(keys(things), keys([things[at] for at in order]))
    assert len(found) == len(things)
    assert all(things[ours] == things[order[theirs]] for ours, theirs in found)


MOVED = [
    Pair("reset", "first", 0.9, id="007", label="1"),
    Pair("reset", "=1+1", 0.5, id="B"),
    Pair("reset", "third\nline", 0.1, id="C"),
    Pair("refund", "fourth", 0.4, id="D"),
    Pair("refund", "fifth", 0.3, id="E"),
]


@pytest.fixture
def compared(tmp_path: Path) -> Comparison:
    turned = scored(MOVED, 0.1, 0.5, 0.9, 0.4, 0.3)
    runs = (MOVED, turned, list(reversed(MOVED)))
    return compare([run_of(tmp_path, pairs, f"job-{number}") for number, pairs in enumerate(runs)])


def test_each_query_and_all_of_them(compared: Comparison) -> None:
    moves = query_moves(compared, 1, top_k=2)
    reset, refund = moves
    assert (len(moves), moves[1]) == (2, refund)
    assert (reset.contexts, reset.first_kept, reset.largest_change) == (3, False, 2)
    assert reset.mean_change == pytest.approx(4 / 3)
    assert reset.rbo < refund.rbo == pytest.approx(1.0)
    assert reset.top == 0.5
    total = summary(moves)
    assert (total.queries, total.contexts, total.other_first, total.unmoved) == (2, 5, 1, 1)
    assert total.top == 0.75


def test_a_row_for_each_text(compared: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    assert write_texts(with_top(compared, 2, None), path) == 5
    rows = read_csv(path)
    assert [row["doc_id"] for row in rows] == ["007", "B", "C", "D", "E"]
    assert rows[1]["text"] == "=1+1"
    first = rows[0]
    assert (first["query"], first["label"], first["score_1"], first["rank_1"]) == ("reset", "1", "0.9", "1")
    assert (first["score_2"], first["rank_2"], first["change_2"], first["change_3"]) == ("0.1", "3", "-2", "0")
    write_texts(with_top(compared, 2, None), path, for_excel=";")
    assert b";'=1+1;" in path.read_bytes(), "no live formula for a spreadsheet"


def test_a_row_for_each_query(compared: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "queries.csv"
    assert write_queries(with_top(compared, 2, None), path) == 2
    rows = read_csv(path)
    assert rows[0]["query"] == "reset"
    assert (rows[0]["top_2_2"], rows[0]["first_kept_2"], rows[0]["largest_change_2"]) == ("0.5", "0", "2")
    assert float(rows[0]["rbo_3"]) == pytest.approx(1.0)


def of(one: Sequence[float], other: Sequence[float], *, p: float = 0.9) -> list[float]:
    """Rank-biased overlap, and the overlaps at depth k and 1."""
    query = np.zeros(len(one), dtype=np.int64)
    first, second = (ranks_of(query, np.array(scores, dtype=np.float64)) for scores in (one, other))
    found: list[float] = overlaps(query, first, second, 1, top_k=2, p=p)[:, 0].tolist()
    return found


def share(one: Sequence[float], other: Sequence[float], depth: int) -> float:
    """The overlap at one depth, which includes every text with fewer than `depth` higher scores."""
    first, second = (
        {at for at, score in enumerate(scores) if sum(each > score for each in scores) < depth}
        for scores in (one, other)
    )
    return 2 * len(first & second) / (len(first) + len(second))


some_scores = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=1, max_size=7)


@given(st.data(), st.sampled_from([0.5, 0.9]))
def test_is_what_its_definition_says(data: st.DataObject, p: float) -> None:
    one = data.draw(some_scores)
    other = data.draw(st.lists(st.sampled_from([0.1, 0.2, 0.3]), min_size=len(one), max_size=len(one)))
    # The rank-biased overlap of Webber, Moffat and Zobel (2010), equation 32.
    shares = [share(one, other, depth) for depth in range(1, len(one) + 1)]
    overlap = sum(each * p**depth for depth, each in enumerate(shares)) * (1 - p) + shares[-1] * p ** len(one)
    assert of(one, other, p=p) == pytest.approx([overlap, shares[:2][-1], shares[0]])


def test_many_queries_are_the_same_as_each_alone() -> None:
    random = np.random.default_rng(3)
    query = np.sort(random.integers(0, 5_000, 20_000))
    one, other = np.round(random.random((2, len(query))), 1)
    together = overlaps(query, ranks_of(query, one), ranks_of(query, other), 5_001, top_k=2)
    assert np.isnan(together[:, 5_000]).all()  # a query without texts
    for number in (0, 2_047, 2_048, 4_999):
        mine = query == number
        assert together[:, number] == pytest.approx(of(one[mine].tolist(), other[mine].tolist()))


def test_long_lists_are_looked_at_as_deep_as_it_matters() -> None:
    scores = np.arange(5_000.0).tolist()
    turned = scores[:4_000][::-1] + scores[4_000:]
    assert of(scores, turned)[0] == pytest.approx(1.0, abs=1e-8)
    assert of(scores, [0.0] * 5_000)[0] < 0.05


def test_p_of_few_queries_is_that_of_all_signs() -> None:
    values = np.array([0.3, -0.1, 0.25, 0.0, 0.4, 0.05])
    extreme = [
        abs(sum(sign * value for sign, value in zip(signs, values, strict=True))) >= abs(values.sum()) - 1e-9
        for signs in product((-1, 1), repeat=len(values))
    ]
    assert randomisation_p(values) == pytest.approx(sum(extreme) / len(extreme))


def test_few_queries_show_nothing() -> None:
    for count in range(LEAST_QUERIES):
        (found,) = compare_pairs(np.zeros(count), [np.ones(count)])
        assert (found.better, found.low, found.high, found.needed) == (count, None, None, None)
        assert not found.is_seen


def test_holm_corrects_for_several_comparisons() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.9, 0.6]) == (1.0, 1.0)
    assert holm([0.2]) == (0.2,)
    assert holm([]) == ()


def test_how_many_more_queries_would_tell() -> None:
    values = np.tile([0.2, -0.2], 15)
    (found,) = compare_pairs(np.zeros(30), [values])
    # n = variance · ((1.96 + 0.84) / 0.05)²
    assert found.needed == pytest.approx(float(values.var(ddof=1)) * (2.8016 / 0.05) ** 2 - 30, abs=1)
    (enough,) = compare_pairs(np.zeros(30), [values / 10])
    assert enough.needed == 0
