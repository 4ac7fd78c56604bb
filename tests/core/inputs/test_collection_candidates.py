"""The candidates of a data set without a run: the judged texts, a sample, or the whole corpus."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.file_rows import preview, read_rows
from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule, ReadOptions, Row, Source
from cfbatch_gui.core.inputs.recipes import RecipeBook, recipe_of
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.drafts import as_recognised
from tests.core.inputs.collections import GRADED, POSITIVES, data_set

JUDGED, CORPUS = CandidateRule(CandidatePool.JUDGED), CandidateRule(CandidatePool.CORPUS)
DRAWN = {"q1": ["d007", "d049", "d050", "d054", "d065", "d103"], "q2": ["d002", "d016", "d066", "d078", "d088", "d099"]}


def opened(folder: Path, rule: CandidateRule | None = None) -> Source:
    return open_source(folder, ReadOptions(candidates=rule))


def ids(rows: Iterable[Row]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.cells[0], []).append(row.cells[2])
    return found


def candidates(folder: Path, rule: CandidateRule | None = None) -> dict[str, list[str]]:
    return ids(read_rows(opened(folder, rule)))


@pytest.mark.parametrize(
    ("labels", "usual"),
    [
        (POSITIVES, CandidateRule(CandidatePool.SAMPLE, 50)),
        (GRADED, JUDGED),
        ({"q1": {"d001": 2, "d002": 1}}, JUDGED),
        ({"q1": {"d001": 1}, "q2": {"d002": 0}}, CandidateRule()),  # within a query there is one grade
        ({"q1": {"d001": 0, "d002": -1}}, CandidateRule()),  # neither is relevant
    ],
)
def test_judged_texts_alone_are_ranked_where_their_grades_differ(
    tmp_path: Path, labels: dict[str, dict[str, int]], usual: CandidateRule
) -> None:
    assert opened(data_set(tmp_path / "set", labels)).candidates == usual


def test_a_sample_has_the_judged_texts_and_others_with_empty_labels(tmp_path: Path) -> None:
    rows = list(read_rows(opened(data_set(tmp_path / "set"))))
    found = ids(rows)
    assert {query: len(set(each)) for query, each in found.items()} == {"q1": 50, "q2": 50}
    assert {(row.cells[0], row.cells[2], row.cells[5]) for row in rows if row.cells[5]} == {
        ("q1", "d007", "1"),
        ("q1", "d050", "1"),
        ("q2", "d099", "1"),
    }
    assert found["q1"] != found["q2"]
    assert all(row.cells[3] == f"text number {int(row.cells[2][1:])}" for row in rows)
    assert [row.number for row in rows] == list(range(1, 101))
    assert {row.cells[4] for row in rows} == {""}  # nothing ranked them before
    assert not [row.problem for row in rows if row.problem]


def test_a_sample_is_the_same_each_time_and_in_every_order_of_the_corpus(tmp_path: Path) -> None:
    one, other = data_set(tmp_path / "one"), data_set(tmp_path / "other", reverse=True)
    assert candidates(one) == candidates(one) == candidates(other)
    # What was drawn for a job is drawn again by later versions of the program.
    assert candidates(one, CandidateRule(size=6)) == DRAWN


def test_a_larger_sample_has_the_texts_of_a_smaller_one(tmp_path: Path) -> None:
    folder = data_set(tmp_path / "set")
    small, large = candidates(folder, CandidateRule(size=10)), candidates(folder, CandidateRule(size=30))
    assert all(set(small[query]) < set(large[query]) for query in small)


def test_all_texts_are_drawn_about_as_often_as_others(tmp_path: Path) -> None:
    labels = {f"q{number}": {"d000": 1} for number in range(400)}
    found = candidates(data_set(tmp_path / "set", labels), CandidateRule(size=31))
    drawn = [each for several in found.values() for each in several if each != "d000"]
    counts = [drawn.count(f"d{number:03}") for number in range(1, 120)]
    assert sum(counts) == 400 * 30
    assert min(counts) > 60  # 101 are expected, with a standard deviation of 9
    assert max(counts) < 145


def test_a_query_with_more_judged_texts_than_a_sample_has_keeps_them_all(tmp_path: Path) -> None:
    judged = {f"d{number:03}": 1 for number in range(9)}
    assert candidates(data_set(tmp_path / "set", {"q1": judged}), CandidateRule(size=5)) == {"q1": list(judged)}


def test_a_small_corpus_is_a_sample_as_a_whole(tmp_path: Path) -> None:
    folder = data_set(tmp_path / "set", {"q1": {"d001": 1}}, texts=["a", "b", "", " ", "c"])
    assert candidates(folder) == {"q1": ["d000", "d001", "d004"]}  # an empty text is never drawn


def test_the_whole_corpus_is_ranked_for_each_judged_query(tmp_path: Path) -> None:
    rows = list(read_rows(opened(data_set(tmp_path / "set"), CORPUS)))
    everything = [f"d{number:03}" for number in range(120)]
    assert ids(rows) == {"q1": everything, "q2": everything}
    assert sum(bool(row.cells[5]) for row in rows) == 3


def test_judged_texts_that_the_corpus_lacks_are_problems(tmp_path: Path) -> None:
    folder = data_set(tmp_path / "set", {"q1": {"gone": 1, "d001": 1}})
    problems = [row.problem for row in read_rows(opened(folder, CandidateRule(size=5))) if row.problem]
    assert problems == ["The corpus has no document with the id “gone”."]
    assert sum(not row.problem for row in read_rows(opened(folder, CandidateRule(size=5)))) == 5
    assert not any(row.problem for row in read_rows(opened(folder, CORPUS)))


def test_a_run_names_the_candidates_whatever_the_options_say(tmp_path: Path) -> None:
    folder = data_set(tmp_path / "set")
    (folder / "bm25.run").write_text("q1 Q0 d003 1 2.5 tag\n")
    source = opened(folder, CORPUS)
    assert source.candidates is None
    assert ids(read_rows(source)) == {"q1": ["d003"]}


def test_the_choice_is_said_and_kept_with_what_is_read(tmp_path: Path) -> None:
    source = opened(data_set(tmp_path / "set"), CandidateRule(size=7))
    assert "with others drawn from the corpus up to 7 a query" in source.notices[0]
    again = open_source(source.path, as_recognised(source))
    assert again == source
    recipes = RecipeBook(tmp_path / "recipes.json")
    mapping = suggest_mapping(source, None, preview(source))
    recipes.save(recipe_of("seven", source, mapping, ReadOptions(candidates=source.candidates), None))
    assert RecipeBook(tmp_path / "recipes.json").recipe("seven").options.candidates == CandidateRule(size=7)
