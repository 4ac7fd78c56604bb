"""Judgements of documents that were not ranked count in ideal and recall, and stand in the exported qrels."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.evaluation.joining import join
from cfbatch_gui.core.evaluation.judged import evaluate, measure
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Role
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from tests.core.evaluation.generated import exported, run_of_table
from tests.core.evaluation.test_as_exported import trec_eval
from tests.core.results.folders import Table, note_all

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


def filled(source_folder: Path, path: Path, *, without_labels: bool = False) -> Table:
    """A job of the data set, scored so that each query's candidates keep their order."""
    source = open_source(source_folder)
    mapping = suggest_mapping(source, Kind.RANK, preview(source))
    if without_labels:
        roles = tuple(Role.IGNORE if role is Role.LABEL else role for role in mapping.roles)
        mapping = replace(mapping, roles=roles)
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
    found = measure(run_of_table(table))
    run, qrels = exported(table, tmp_path)
    assert qrels == {name: judged for name, judged in QRELS.items() if name != "nobody"}
    theirs = [trec_eval(run[query], judged) for query, judged in qrels.items()]
    assert found is not None
    for name in theirs[0]:
        assert found.runs[0].values[name] == pytest.approx([each[name] for each in theirs]), name
    assert found.runs[0].values["R@10"][0] == pytest.approx(1 / 3)  # d1 of d1, d7 and d9
    assert (found.judged, found.relevant) == (6, 5)


def test_a_document_outside_of_one_run_is_found_in_the_other(tmp_path: Path) -> None:
    one = run_of_table(filled(collection(tmp_path / "set"), tmp_path / "one"), "one")
    more = {**RANKED, "q1": ["d9", "d4", "d1", "d8"]}
    other = run_of_table(filled(collection(tmp_path / "more", ranked=more), tmp_path / "other"), "other")
    found = evaluate((one, other), join((one, other)))
    alone = [measure(each) for each in (one, other)]
    assert found is not None
    assert (found.judged, found.conflicts) == (6, 0)
    for run, each in zip(found.runs, alone, strict=True):
        assert each is not None
        assert {name: mean.value for name, mean in run.means.items()} == pytest.approx(
            {name: mean.value for name, mean in each.runs[0].means.items()}
        )
    assert found.runs[1].values["RR"][0] == 1.0
