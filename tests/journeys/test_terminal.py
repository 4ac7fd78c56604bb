"""The main way in the terminal, on the practice service."""

import json
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.cli.console import width_of
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.practice.local_models import choose_model
from cfbatch_gui.core.resources import resource
from cfbatch_gui.words.jobs import batch_row, list_row
from cfbatch_gui.words.results import scores_line
from tests.canary import TOKEN
from tests.journeys.terminal import ACCOUNT, EXAMPLE, Terminal, jobs_in, read_csv

ORANGE_CLOUD = resource("examples/orange-cloud.jsonl")
THREE_STORIES = resource("examples/three-stories.txt")


def test_a_ranking_of_the_example(terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 20)  # several batches, whose answers come in any order
    ranked = tmp_path / "ranked.csv"
    command = ("run", EXAMPLE, "--rank", "--connection", "practice")
    ended = terminal.run(*command, "--out", ranked)
    assert (ended.status, ended.out) == (0, ""), "what goes into a file is not printed as well"
    rows = read_csv(ranked)
    assert str(ranked) in ended.err
    assert len(jobs_in(terminal.data)[0].batches) == 5
    vectors = {text: choose_model().embed([text])[0] for row in rows for text in (row["query"], row["text"])}
    for _, group in groupby(rows, key=lambda row: row["query"]):
        found = list(group)
        scores = [float(row["score"]) for row in found]
        assert scores == sorted(scores, reverse=True)
        assert scores == pytest.approx([vectors[row["query"]] @ vectors[row["text"]] for row in found], abs=1e-3)
        ranks = [1 + sum(other > score for other in scores) for score in scores]
        assert [int(row["rank"].rstrip("=")) for row in found] == ranks

    ended = terminal.run(*command)
    lines = ended.out.splitlines()
    assert lines[0] == scores_line(jobs_in(terminal.data)[0])
    assert all(width_of(line) <= 100 for line in lines)
    listed = [line for line in lines[2:] if line[:5].strip().isdigit()]
    assert len(listed) == len(rows) == len(read_csv(EXAMPLE))
    assert lines[2] == rows[0]["query"]
    assert listed[0].split()[:2] == ["1", f"{float(rows[0]['score']):.4f}"]
    assert {row["doc_id"] for row in rows} == {row["sku"] for row in read_csv(EXAMPLE)}


def test_the_examples_of_the_service_s_own_pages(terminal: Terminal, service: str, tmp_path: Path) -> None:
    terminal.connect(service)
    cloud = terminal.run("run", ORANGE_CLOUD, "--rank", "--connection", "cloudflare", "--out", tmp_path / "cloud.csv")
    assert cloud.status == 0
    first, *_ = read_csv(tmp_path / "cloud.csv")
    assert (first["rank"], first["text"]) == ("1", "This is a story about an orange cloud")

    out = ("--out", tmp_path / "s.csv", "--out", tmp_path / "s.npy", "--out", tmp_path / "s.jsonl")
    stories = terminal.run("run", THREE_STORIES, "--embed", "--connection", "cloudflare", *out, "--json")
    assert stories.status == 0
    vectors = np.load(tmp_path / "s.npy")
    assert (vectors.shape[0], vectors.dtype) == (3, np.float32)
    rows = read_csv(tmp_path / "s.csv")
    assert np.array_equal(np.array([row["dim_0"] for row in rows], dtype=np.float32), vectors[:, 0])
    assert [Path(file["path"]).name for file in stories.json["files"]] == ["s.csv", "s.npy", "s.jsonl"]
    assert [file["format"] for file in stories.json["files"]] == ["csv", "npy", "jsonl"]
    assert [file["rows"] for file in stories.json["files"]] == [3, 3, 3]


def test_people_get_their_own_columns_and_only_these(terminal: Terminal, tmp_path: Path) -> None:
    given = "made of,sku,text,price\nwood,007,a chair,5\nsteel,008,a lamp,7\n"
    (tmp_path / "given.csv").write_text(given)
    ended = terminal.run("run", tmp_path / "given.csv", "--embed", "--connection", "practice", "--json")
    assert ended.status == 0
    assert terminal.run("export", ended.json["job"], "--out", tmp_path / "out.xlsx").status == 0
    written = open_source(tmp_path / "out.xlsx")
    lines = [",".join(row.cells) for row in read_rows(written)]
    assert "\n".join([",".join(written.columns), *lines, ""]) == given
    assert terminal.run("export", ended.json["job"], "--out", tmp_path / "numbers.xlsx", "--numbers").status == 0
    assert len(open_source(tmp_path / "numbers.xlsx").columns) > 100


def test_the_json_object_has_exactly_what_other_programs_rely_on(
    terminal: Terminal, service: str, tmp_path: Path
) -> None:
    terminal.connect(service)
    file = tmp_path / "in.csv"
    file.write_text("query,text\nq,first\nq,\nq,third\n,fourth\n", encoding="utf-8")
    ended = terminal.run("run", file, "--rank", "--connection", "cloudflare", "--name", "My job", "--json")
    assert ended.status == 0
    found = ended.json
    assert set(found) == {
        *("job", "name", "kind", "model", "connection", "state", "batches", "rows_in", "rows_sent", "problems"),
        *("doubtful_sent", "usage", "account", "taken_from_earlier_jobs", "scores", "vectors", "files"),
    }
    (batch,) = found["batches"]
    assert list(batch) == ["number", "state", "request_id", "requests", "bytes", "account"]
    assert (batch["number"], batch["state"], batch["requests"]) == (1, "done", 1)
    assert batch["request_id"]
    assert batch["bytes"] > 0
    about = [found[key] for key in ("name", "kind", "model", "connection", "state")]
    assert about == ["My job", "rank", "@cf/baai/bge-m3", "cloudflare", "done"]
    assert (found["rows_in"], found["rows_sent"]) == (4, 2)
    assert [problem["row"] for problem in found["problems"]] == [3, 5]
    assert all(problem["reason"] for problem in found["problems"])
    assert found["usage"]["total_tokens"] > 0
    assert found["files"] == []
    assert (found["scores"]["scored"], found["scores"]["contexts"]) == (2, 2)

    shown = terminal.run("show", found["job"], "--json").json
    assert shown.pop("quality")["evaluation"] is None and shown == found  # the file has no labels
    assert json.loads(terminal.run("jobs", "--json").out)["jobs"][0]["job"] == found["job"]


def test_one_set_of_contexts_for_every_query(terminal: Terminal, service: str, tmp_path: Path) -> None:
    terminal.connect(service)
    queries, contexts = tmp_path / "queries.csv", tmp_path / "contexts.csv"
    queries.write_text("nr;frage\n07;orange cloud\n08;llama\n", encoding="utf-8")
    contexts.write_text("id,passage\nA,a story about a llama\nB,a story about an orange cloud\n", encoding="utf-8")
    roles = ("--role", "frage=query", "--role", "nr=id", "--role", "passage=context", "--role", "id=id")
    ended = terminal.run(
        *("run", queries, contexts, "--rank", *roles, "--connection", "cloudflare", "--out", tmp_path / "r.csv")
    )
    assert ended.status == 0
    # "id" is a column of the second file alone; "nr" one of the first.
    first = [(row["query_id"], row["doc_id"]) for row in read_csv(tmp_path / "r.csv") if row["rank"] == "1"]
    assert first == [("07", "B"), ("08", "A")]


def test_jobs_show_and_export_later(terminal: Terminal, service: str, tmp_path: Path) -> None:
    assert terminal.run("jobs").out == ""
    terminal.connect(service)
    assert terminal.run("run", EXAMPLE, "--rank", "--connection", "cloudflare", "--name", "Hilfe").status == 0
    (known,) = jobs_in(terminal.data)
    job, row = known.id, list_row(known, "Cloudflare")
    titles, line = terminal.run("jobs").out.splitlines()
    assert titles.split() == [name.upper() for name, words in row if words] and all(words in line for _, words in row)
    shown = terminal.run("show", "Hilfe").out
    assert all(words in shown for _, words in batch_row(known.batches[0], known))

    for_programs = ("a.csv", "c.jsonl", "e.parquet", "f.run", "g")
    forms = {"d.txt": ("--format", "csv-excel"), "g": ("--format", "beir")}
    for name in ("b.xlsx", "d.txt", *for_programs):
        ended = terminal.run("export", job[:4], "--out", tmp_path / name, *forms.get(name, ()))
        assert (ended.status, ended.out) == (0, "")
        assert (tmp_path / f"{name}.manifest.json").exists() == (name in for_programs)
    assert (tmp_path / "d.txt").read_bytes().startswith(b"\xef\xbb\xbf")
    assert (tmp_path / "g" / "corpus.jsonl").stat().st_size > 1000
    several = terminal.run(
        *("export", job, "--out", tmp_path / "h.csv", "--to", "csv-excel", tmp_path / "h2.csv"),
        *("--columns", "query,doc_id,score", "--top-k", "1", "--threshold", "0"),
    )
    assert several.status == 0 and several.err.count("Wrote ") == 2
    one = read_csv(tmp_path / "h.csv")
    assert list(one[0]) == ["query", "doc_id", "score"]
    assert len(one) < len(read_csv(tmp_path / "a.csv"))
    ended = terminal.run("export", job, "--to", "csv-excel", tmp_path / "i.csv", "--separator", ";")
    assert (ended.status, (tmp_path / "i.csv").read_bytes()[:17]) == (0, b"\xef\xbb\xbfquestion;Rank;")
    for useless in (
        *(("--to", "qrels", "q.qrels", "--top-k", "1"), ("--out", "t.run", "--columns", "score"), ()),
        *(("--out", "t.csv", "--separator", ";"), ("--to", "csv-excel", "t.csv", "--separator", "x")),
        *(("--out", "t.csv", "--own-order"), ("--out", "t.xlsx", "--numbers")),
    ):
        assert terminal.run("export", job, *useless).status == 2
    manifests = "".join(path.read_text() for path in tmp_path.glob("*manifest.json"))
    assert ACCOUNT not in manifests and TOKEN not in manifests


def test_the_data_folder_may_be_named_before_or_after_the_command(terminal: Terminal, tmp_path: Path) -> None:
    option = ("--data-dir", tmp_path / "elsewhere")
    for arguments in ((*option, "jobs"), ("jobs", *option)):
        ended = terminal.run(*arguments)
        assert (ended.status, ended.out) == (0, "")
        assert not (tmp_path / "elsewhere").exists()
