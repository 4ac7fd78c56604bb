"""Exported rankings read by programs that evaluate retrieval, which find the same figures, and by data frames."""

import csv
import json
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from cfbatch_gui.core.evaluation.judged import measure
from tests.core.evaluation.generated import exported, generated_table, run_of_table
from tests.core.results.folders import Table

FIRST = ["B", "doc%201", "d%2520e", "A"]  # equal scores are in the order of the input
SECOND = ["H", "C"]


def written(table: Table, path: Path, form: str) -> Path:
    table.export(path, form)
    return path


@pytest.mark.interop
def test_a_run_and_its_judgements_in_pytrec_eval(ranked: Table, tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    with written(ranked, tmp_path / "out.run", "trec").open(encoding="utf-8") as file:
        run = pytrec_eval.parse_run(file)
    with written(ranked, tmp_path / "out.qrels", "qrels").open(encoding="utf-8") as file:
        qrels = pytrec_eval.parse_qrel(file)
    assert qrels == {"q1": {"doc%201": 1, "B": 0, "d%2520e": 2, "E": 1}, "q2": {"C": 1, "H": 3}}
    for query, expected in (("q1", FIRST), ("q2", SECOND)):
        # trec_eval's order: score as float32, then document id, both descending.
        order = sorted(run[query], key=lambda name: (np.float32(run[query][name]), name), reverse=True)
        assert order == expected
        assert len({np.float32(score) for score in run[query].values()}) == len(expected)
    assert run["q2"] == {"H": 1 / 3, "C": 0.1}
    assert [unquote(name) for name in FIRST] == ["B", "doc 1", "d%20e", "A"]
    measured = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank", "ndcg"}).evaluate(run)
    assert measured["q1"]["recip_rank"] == 1 / 2
    assert measured["q2"]["ndcg"] == 1.0


def test_the_folder_as_beir_and_mteb_read_it(ranked: Table, tmp_path: Path) -> None:
    folder = written(ranked, tmp_path / "beir", "beir")
    corpus = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines()]
    assert {line["_id"]: line["title"] + " " + line["text"] for line in corpus}["d%2520e"] == " third\nline"
    assert len(corpus) == 9
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    assert queries == [{"_id": "q1", "text": "how do I reset"}, {"_id": "q2", "text": "パスワードを忘れた"}]
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
    assert header == ["query-id", "corpus-id", "score"]
    assert {(query, document, int(score)) for query, document, score in rows} == {
        ("q1", "doc%201", 1), ("q1", "B", 0), ("q1", "d%2520e", 2), ("q1", "E", 1), ("q2", "C", 1), ("q2", "H", 3),
    }  # fmt: skip
    assert (folder / "qrels" / "test.tsv").read_bytes() == written(
        ranked, tmp_path / "q.tsv", "qrels-beir"
    ).read_bytes()
    ranking = [json.loads(line) for line in (folder / "top_ranked" / "test.jsonl").read_text("utf-8").splitlines()]
    assert ranking == [{"query-id": "q1", "corpus-ids": FIRST}, {"query-id": "q2", "corpus-ids": SECOND}]


@pytest.mark.interop
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_long_table_in_duckdb(ranked: Table, tmp_path: Path, form: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = written(ranked, tmp_path / f"out.{form}", form)
    rows = duckdb.sql(
        f"SELECT query, rank, doc_id, text, score, tie_group, label, status, mine FROM '{path}' ORDER BY query, rank"
    ).fetchall()
    assert rows[0] == ("how do I reset", 1, "B", "second", 0.5, None, *rows[0][6:8], "=1+1")
    assert [row[:3] for row in rows[1:4]] == [("how do I reset", 2, name) for name in ("doc 1", "d%20e", "A")]
    assert [row[5] for row in rows[1:4]] == [1, 1, 1]
    assert [row[4] for row in rows if row[4] is not None] == [0.5, 0.25, 0.25, 0.25, 1 / 3, 0.1]
    assert sorted(row[7] for row in rows if row[1] is None) == ["failed", "left out", "waiting"]


NAMES = {
    "nDCG@10": "ndcg_cut_10",
    "RR": "recip_rank",
    "R@10": "recall_10",
    "P@10": "P_10",
    "Success@10": "success_10",
    "AP": "map",
    "bpref": "bpref",
}
CASES, PART = 300, 50


@pytest.mark.interop
@pytest.mark.parametrize("first", range(0, CASES, PART))
def test_the_same_figures_as_trec_eval(first: int, tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    for seed in range(first, first + PART):
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        table = generated_table(seed, folder / "job", queries=4)
        run, qrels = exported(table, folder)
        found = measure(run_of_table(table))
        assert found is not None
        assert len(found.queries) == len(qrels)
        theirs = pytrec_eval.RelevanceEvaluator(qrels, set(NAMES.values())).evaluate(run)
        for name, measured in NAMES.items():
            expected = [theirs.get(query, {}).get(measured, 0.0) for query in qrels]
            assert found.runs[0].values[name] == pytest.approx(expected, abs=1e-9), (seed, name)
