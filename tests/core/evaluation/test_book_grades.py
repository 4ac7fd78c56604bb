"""Measures by the judgements of a book: which documents they are about, and which of several counts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.evaluation.joining import Run, join, label_judgements
from cfbatch_gui.core.evaluation.judged import evaluate, measure
from cfbatch_gui.core.evaluation.judged_documents import read_book_grades
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from tests.core.evaluation.generated import generated_table, run_of, run_of_table
from tests.core.evaluation.test_as_exported import trec_eval
from tests.core.results.folders import Pair

RED, GREEN = Subject("", "red"), Subject("", "green")


def judged(
    query: Subject, document: Subject, grade: int | None, source: Source = Source.PERSON, time: float = 1.0
) -> Judgement:
    return Judgement(query, document, grade, "judge", source, time)


def ndcg(run: Run, book: Book) -> list[float]:
    found = measure(run, book=read_book_grades(book))
    return found.runs[0].values["nDCG@10"].tolist() if found is not None else []


def test_a_text_is_judged_whatever_its_id_and_an_id_whatever_its_text(book: Book, tmp_path: Path) -> None:
    pairs = [
        *(Pair("red", "leaf", 0.9, id="1"), Pair("red", "apple", 0.8, id="2"), Pair("red", "apple", 0.7, id="3")),
        *(Pair("green", "leaf", 0.9, id="1"), Pair("green", "sky", 0.2, id="4")),
    ]
    book.add([judged(RED, Subject("77", "apple"), 2), judged(GREEN, Subject("4"), 1), judged(GREEN, Subject("5"), 1)])
    run = run_of(tmp_path, pairs)
    found = measure(run, book=read_book_grades(book))
    assert found is not None
    assert [found.queries[at].text for at in range(2)] == ["red", "green"]
    red = trec_eval({"1": 0.9, "2": 0.8, "3": 0.7}, {"2": 2, "3": 2})
    green = trec_eval({"1": 0.9, "4": 0.2}, {"4": 1, "5": 1})
    assert found.runs[0].values["nDCG@10"] == pytest.approx([red["nDCG@10"], green["nDCG@10"]])
    assert found.book is not None
    assert (found.book.matched, found.book.unmatched, found.book.other_versions) == (2, 1, 0)
    assert found.runs[0].judged_top.tolist() == [2, 1]


def test_another_version_of_a_text_is_no_missing_document(book: Book, tmp_path: Path) -> None:
    run = run_of(tmp_path, [Pair("red", "apple, new", 0.5, id="1"), Pair("red", "leaf", 0.4, id="2")])
    book.add([judged(RED, Subject("1", "apple, old"), 3), judged(RED, Subject("2", "leaf"), 1)])
    found = measure(run, book=read_book_grades(book))
    assert found is not None
    assert found.book is not None
    assert (found.book.matched, found.book.unmatched, found.book.other_versions) == (1, 0, 1)
    assert found.runs[0].values["R@10"].tolist() == [1.0]


def test_people_overrule_labels_and_labels_overrule_those_of_other_files(book: Book, tmp_path: Path) -> None:
    pairs = [Pair("red", "apple", 0.9, label="0"), Pair("red", "leaf", 0.8, label="1"), Pair("red", "sky", 0.7)]
    run = run_of(tmp_path, pairs)
    labels = [judged(RED, Subject("", text), 1 - (text == "leaf"), Source.LABELS) for text in ("leaf", "apple", "sky")]
    book.add(labels)
    assert ndcg(run, book) == pytest.approx([trec_eval({"a": 3, "l": 2, "s": 1}, {"a": 0, "l": 1, "s": 1})["nDCG@10"]])
    book.add([judged(RED, Subject("", "apple"), 2)])
    assert ndcg(run, book) == pytest.approx([trec_eval({"a": 3, "l": 2, "s": 1}, {"a": 2, "l": 1, "s": 1})["nDCG@10"]])
    book.add([judged(RED, Subject("", "leaf"), None), judged(RED, Subject("", "sky"), None)])
    assert len(ndcg(run, book)) == 1


def test_two_jobs_are_measured_by_the_same_judgements(book: Book, tmp_path: Path) -> None:
    one = run_of(tmp_path, [Pair("red", "apple", 0.9), Pair("red", "leaf", 0.8), Pair("green", "leaf", 0.1)], "one")
    other = run_of(tmp_path, [Pair("red", "sky", 0.9), Pair("red", "apple", 0.8), Pair("blue", "sky", 0.1)], "other")
    book.add([judged(RED, Subject("", text), grade) for text, grade in (("apple", 1), ("sky", 2), ("sea", 3))])
    book.add([judged(GREEN, Subject("", "leaf"), 1)])
    found = evaluate((one, other), join((one, other)), book=read_book_grades(book))
    assert found is not None
    grades = {"apple": 1, "sky": 2, "sea": 3}
    expected = [trec_eval({"apple": 2, "leaf": 1}, grades), trec_eval({"sky": 2, "apple": 1}, grades)]
    assert [run.values["nDCG@10"].tolist() for run in found.runs] == [
        pytest.approx([each["nDCG@10"]]) for each in expected
    ]
    assert (found.judged, found.relevant) == (3, 3)


@pytest.mark.parametrize("seed", (1, 3))
def test_the_labels_of_a_deleted_job_measure_the_next_one(seed: int, book: Book, tmp_path: Path) -> None:
    run = run_of_table(generated_table(seed, tmp_path / "job"))
    without = replace(run, labels=np.full_like(run.labels, -(2**31)))
    assert measure(without) is None
    assert book.add_new(label_judgements(run, time=1.0)) > 0
    assert book.add_new(label_judgements(run, time=2.0)) == 0
    ours, by_book = measure(run), measure(without, book=read_book_grades(book))
    assert ours is not None
    assert by_book is not None
    for name, mean in ours.runs[0].means.items():
        assert by_book.runs[0].means[name].value == pytest.approx(mean.value), name
