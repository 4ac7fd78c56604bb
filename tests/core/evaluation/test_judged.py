"""Measures on screen, by labels or a book, are those of the exported run and qrels by the rules of trec_eval."""

import json
from collections.abc import Iterator
from dataclasses import replace
from math import log2
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation import metrics
from cfbatch_gui.core.evaluation.joining import Run, join, label_judgements
from cfbatch_gui.core.evaluation.judged import BookGrades, Evaluation, RunMeasures, evaluate, measure
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.files import Form, JobSubjects, write_judgements
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from cfbatch_gui.core.results.labels import NO_LABEL
from tests.core.evaluation.generated import exported, generated_table, run_of, run_of_table, scored
from tests.core.results.folders import FAILED, Outcome, Pair, Table, note_all

U = NO_LABEL


def labels(*values: int) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


# Ranked: label 0, label 3, unjudged, label 1. Also judged: a text of label 2 that was not ranked.
FOUND = labels(0, 3, U, 1)
JUDGED = labels(0, 1, 2, 3)
NOTHING = labels()


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (metrics.ndcg(FOUND, JUDGED, 2), (3 / log2(3)) / (3 + 2 / log2(3))),
        (metrics.ndcg(labels(-1, 1), labels(-1, 1), 10), 1 / log2(3)),
        (metrics.ndcg_exponential(FOUND, JUDGED, 10), (7 / log2(3) + 1 / log2(5)) / (7 + 3 / log2(3) + 1 / 2)),
        (metrics.reciprocal_rank(labels(0, U), JUDGED), 0.0),
        (metrics.precision(FOUND, JUDGED, 2), 1 / 2),
        (metrics.recall(FOUND, JUDGED, 2), 1 / 3),
        (metrics.success(FOUND, JUDGED, 1), 0.0),
        (metrics.success(FOUND, JUDGED, 2), 1.0),
        (metrics.binary_preference(labels(0, 1, U, 2, -1, 1), labels(0, 1, 2, -1, 1, 0, 0)), (3 * (1 - 1 / 3)) / 3),
        (metrics.binary_preference(labels(1, 1), labels(1, 1)), 1.0),
        (metrics.binary_preference(labels(0, 0, 0, 1), labels(0, 0, 0, 1)), 0.0),
    ],
)
def test_each_metric_as_trec_eval_defines_it(found: float, value: float) -> None:
    assert found == pytest.approx(value)


def test_a_query_without_an_answer_or_without_a_relevant_text_is_0() -> None:
    for metric in metrics.usual_metrics().values():
        assert metric(NOTHING, JUDGED) == 0.0
        assert metric(labels(0, 0), labels(0, 0)) == 0.0


LABELLED = [
    Pair("reset", "first", 0.9, id="A", label="0"),
    Pair("reset", "second", 0.5, id="B", label="2"),
    Pair("reset", "third", 0.2, id="C"),
    Pair("refund", "fourth", 0.4, id="D", label="1"),
    Pair("refund", "fifth", 0.3, id="E", label="0"),
    Pair("unlabelled", "sixth", 0.3, id="F"),
]


def measured(*runs: Run, book: Book | None = None) -> Evaluation:
    """The measures of runs that have judgements."""
    found = evaluate(runs, join(runs), book=BookGrades.read(book))
    assert found is not None
    return found


def with_other_scores(path: Path, *scores: Outcome) -> RunMeasures:
    """The measures of a run whose own file has no labels, beside the labelled one."""
    other = [replace(pair, label="") for pair in scored(LABELLED, *scores)]
    return measured(run_of(path, LABELLED, "one"), run_of(path, other, "two")).runs[1]


def test_a_relevant_text_without_a_score_is_missed(tmp_path: Path) -> None:
    found = with_other_scores(tmp_path, 0.1, FAILED, 0.3, FAILED, FAILED, 0.5)
    assert found.means["R@10"] == 0.0
    assert found.without_answer == 1


def test_scores_that_differ_beyond_float32_are_no_tie_as_the_exported_run_keeps_their_order(tmp_path: Path) -> None:
    found = with_other_scores(tmp_path, 0.5 + 1e-12, 0.5, 0.1, 0.9, 0.1, 0.5)
    assert found.means["RR"] == pytest.approx((1 / 2 + 1) / 2)


def test_labels_that_differ_are_counted_and_the_first_holds(tmp_path: Path) -> None:
    other = [replace(pair, label="1" if pair.id == "A" else pair.label) for pair in LABELLED]
    found = measured(run_of(tmp_path, LABELLED, "one"), run_of(tmp_path, other, "two"))
    assert found.conflicts == 1
    assert found.runs[0].means == found.runs[1].means


K = 10


def trec_eval(run: dict[str, float], judged: dict[str, int]) -> dict[str, float]:
    """The measures of one query, plainly."""
    order = sorted(run, key=lambda document: (np.float32(run[document]), document.encode()), reverse=True)
    grades = [max(judged.get(document, 0), 0) for document in order]
    ideal = sorted((max(grade, 0) for grade in judged.values()), reverse=True)
    relevant = sum(grade > 0 for grade in judged.values())
    hits = [rank for rank, grade in enumerate(grades, 1) if grade > 0]
    best = sum(grade / log2(rank + 1) for rank, grade in enumerate(ideal[:K], 1))
    found = sum(grade / log2(rank + 1) for rank, grade in enumerate(grades[:K], 1))
    return {
        "nDCG@10": found / best if best else 0.0,
        "RR": 1 / hits[0] if hits else 0.0,
        "AP": sum(count / rank for count, rank in enumerate(hits, 1)) / relevant if relevant else 0.0,
        "R@10": sum(rank <= K for rank in hits) / relevant if relevant else 0.0,
        "P@10": sum(rank <= K for rank in hits) / K,
    }


def judged_at_random(run: Run, random: np.random.Generator) -> Iterator[Judgement]:
    """Of half the pairs by text or by id, of any source; and of documents that the run has not."""
    texts = run.texts(range(len(run.table)))
    for time, index in enumerate(random.choice(len(run.table), len(run.table) // 2).tolist()):
        document = Subject("", texts[index].text) if random.random() < 0.6 else Subject(texts[index].id)
        if document.key != ("", ""):
            source = Source(int(random.integers(1, 5)))
            query = Subject("", f"q{int(run.table.queries[index]) - 1}")
            yield Judgement(query, document, int(random.integers(-1, 4)), source.name, source, float(time))
    for query, document in ((Subject("", "q0"), Subject("", "in no job")), (Subject("", "q1"), Subject("nowhere"))):
        yield Judgement(query, document, 3, "me", Source.PERSON, 1.0)


@pytest.mark.parametrize("seed", range(10))
def test_measures_by_labels_and_a_book_are_those_of_the_exported_run_and_judgements(
    seed: int, book: Book, tmp_path: Path
) -> None:
    table = generated_table(seed, tmp_path / "job")
    run = run_of_table(table)
    ranked, qrels = exported(table, tmp_path)
    if seed >= 4:
        book.add(list(judged_at_random(run, np.random.default_rng(seed))))
        labels = label_judgements(run, time=0.0)
        write_judgements(book, tmp_path / "file", Form.TREC, JobSubjects(table.folder), labels=labels)
        qrels = {}
        for line in (tmp_path / "file").read_text("utf-8").splitlines():
            query, _, document, grade = line.split()
            qrels.setdefault(query, {})[document] = int(grade)
    found = measured(run, book=book)
    (measures,) = found.runs
    names = [f"q{query.number}" for query in found.queries]
    theirs = {query: trec_eval(ranked.get(query, {}), judged) for query, judged in qrels.items()}
    for name in ("nDCG@10", "RR", "AP", "R@10", "P@10"):
        expected = {query: each[name] for query, each in theirs.items()}
        assert dict(zip(names, measures.values[name], strict=True)) == pytest.approx(expected, abs=1e-12), name
        mean = measures.means[name]
        assert mean == pytest.approx(sum(expected.values()) / len(expected), abs=1e-12)
    for query, count in zip(names, measures.judged_top.tolist(), strict=True):
        first = sorted(ranked.get(query, {}), key=ranked.get(query, {}).__getitem__)[::-1][:K]
        assert count == sum(document in qrels[query] for document in first)


QRELS = {"q1": {"d1": 2, "d7": 1, "d8": 0, "d9": 3}, "q2": {"d3": 1}, "q3": {"d5": 1}, "nobody": {"d1": 1}}
RANKED = {"q1": ["d4", "d1", "d8", "gone"], "q2": ["d0", "d3"], "q3": ["d5"]}


def collection(folder: Path, *, header: bool = True, ranked: dict[str, list[str]] = RANKED) -> Path:
    """A data set with a run that does not have all judged documents."""
    folder.mkdir()
    files: dict[str, list[dict[str, object]]] = {
        "corpus.jsonl": [{"_id": f"d{number}", "text": f"text {number}"} for number in range(10)],
        "queries.jsonl": [{"_id": name, "text": f"what is {name}"} for name in ("q1", "q2", "q3")],
        "top_ranked.jsonl": [{"query-id": name, "corpus-ids": ids} for name, ids in ranked.items()],
    }
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    pairs = [(query, document, grade) for query, grades in QRELS.items() for document, grade in grades.items()]
    if header:
        judged = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, pair)) for pair in pairs)]
    else:
        judged = [f"{query} 0 {document} {grade}" for query, document, grade in pairs]
    (folder / "qrels.tsv").write_text("\n".join(judged) + "\n")
    return folder


def filled(source_folder: Path, path: Path) -> Table:
    """A job of the data set, scored so that each query's candidates keep their order."""
    source = open_source(source_folder)
    mapping = suggest_mapping(source, Kind.RANK, preview(source))
    table = Table(path)
    fill(table.folder, source, mapping)
    with table.folder.open() as database:
        database.execute("INSERT INTO requests VALUES(1, 'reference-1', 1, 0, 'done', '')")
        database.execute("UPDATE items SET score = 1.0 / position, request_no = 1, request_position = item_no")
        note_all(database)
    return table


@pytest.mark.parametrize("header", [True, False])
def test_measures_are_over_all_judged_documents(header: bool, tmp_path: Path) -> None:
    table = filled(collection(tmp_path / "set", header=header), tmp_path / "job")
    found = measured(run_of_table(table))
    run, qrels = exported(table, tmp_path)
    assert qrels == {name: judged for name, judged in QRELS.items() if name != "nobody"}
    theirs = [trec_eval(run[query], judged) for query, judged in qrels.items()]
    for name in theirs[0]:
        assert found.runs[0].values[name] == pytest.approx([each[name] for each in theirs]), name
    assert found.runs[0].values["R@10"][0] == pytest.approx(1 / 3)  # d1 of d1, d7 and d9
    assert (found.judged, found.relevant) == (6, 5)


def test_a_document_outside_of_one_run_is_found_in_the_other(tmp_path: Path) -> None:
    one = run_of_table(filled(collection(tmp_path / "set"), tmp_path / "one"), "one")
    more = {**RANKED, "q1": ["d9", "d4", "d1", "d8"]}
    other = run_of_table(filled(collection(tmp_path / "more", ranked=more), tmp_path / "other"), "other")
    found = measured(one, other)
    alone = [measured(each) for each in (one, other)]
    assert (found.judged, found.conflicts) == (6, 0)
    for run, each in zip(found.runs, alone, strict=True):
        assert run.means == pytest.approx(each.runs[0].means)
    assert found.runs[1].values["RR"][0] == 1.0


RED, GREEN = Subject("", "red"), Subject("", "green")


def judged(query: Subject, document: Subject, grade: int | None, source: Source = Source.PERSON) -> Judgement:
    return Judgement(query, document, grade, "judge", source, 1.0)


def ndcg(run: Run, book: Book) -> list[float]:
    found = measure(run, book=BookGrades.read(book))
    return found.runs[0].values["nDCG@10"].tolist() if found is not None else []


def test_a_text_is_judged_whatever_its_id_and_an_id_whatever_its_text(book: Book, tmp_path: Path) -> None:
    pairs = [
        *(Pair("red", "leaf", 0.9, id="1"), Pair("red", "apple", 0.8, id="2"), Pair("red", "apple", 0.7, id="3")),
        *(Pair("green", "leaf", 0.9, id="1"), Pair("green", "sky", 0.2, id="4")),
    ]
    book.add([judged(RED, Subject("77", "apple"), 2), judged(GREEN, Subject("4"), 1), judged(GREEN, Subject("5"), 1)])
    run = run_of(tmp_path, pairs)
    found = measured(run, book=book)
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
    found = measured(run, book=book)
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
    found = measured(one, other, book=book)
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
    ours, by_book = measured(run), measured(without, book=book)
    for name, mean in ours.runs[0].means.items():
        assert by_book.runs[0].means[name] == pytest.approx(mean), name
