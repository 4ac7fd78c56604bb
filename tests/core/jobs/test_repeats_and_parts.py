"""A repeated text is sent once for all its rows; a long text is sent in parts and has the score of its best part."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Split
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.run.collecting import collect
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.workers_ai.answers import Finished, read_answer
from cfbatch_gui.core.workers_ai.estimate import tokens_upper
from tests.bodies import body_of

Write = Callable[[str, str], Path]


def job(kind: Kind) -> Job:
    return Job("abc", "n", kind, "@cf/baai/bge-m3", "practice", 0.0, options=JobOptions())


def filled(tmp_path: Path, path: Path, kind: Kind, split: Split | None = None) -> tuple[JobFolder, packing.Plan]:
    folder = JobFolder(tmp_path / "job")
    source = open_source(path)
    fill(folder, source, replace(suggest_mapping(source, kind, preview(source)), split=split))
    return folder, packing.plan(folder, job(kind))


def finished(answers: list[dict[str, object]], references: list[str]) -> Finished:
    responses = [
        {"id": place, "result": answer, "success": True, "external_reference": reference}
        for place, (answer, reference) in enumerate(zip(answers, references, strict=True))
    ]
    found = read_answer(json.dumps({"responses": responses}).encode())
    assert isinstance(found, Finished)
    return found


def test_the_same_text_is_sent_once_and_answered_everywhere(tmp_path: Path, write: Write) -> None:
    texts = ["red lamp", "blue chair", "red lamp", "green table", "blue chair", "red lamp"]
    path = write("a.csv", "id,text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(texts)))
    folder, plan = filled(tmp_path, path, Kind.EMBED)
    assert (plan.texts, plan.repeated, plan.left_out) == (3, 3, 0)
    assert plan.saved_tokens == sum(tokens_upper(texts[n]) for n in (2, 4, 5))
    body = json.loads(body_of(folder, job(Kind.EMBED), 1))
    assert body["requests"][0]["text"] == ["red lamp", "blue chair", "green table"]
    vectors = [[float(n), 1.0] for n in range(3)]
    answer: dict[str, object] = {"data": vectors, "shape": [3, 2], "pooling": "cls"}
    collect(folder, Kind.EMBED, 1, finished([answer], ["abc-1"]))
    assert np.load(folder.vectors)[:, 0].tolist() == [0.0, 1.0, 0.0, 2.0, 1.0, 0.0]


def test_the_same_context_of_another_query_is_sent_again(tmp_path: Path, write: Write) -> None:
    path = write("a.csv", "query,text\nwhy is it,because of it\nwhy is it,because of it\nwho is it,because of it\n")
    _, plan = filled(tmp_path, path, Kind.RANK)
    assert (plan.texts, plan.repeated, plan.queries) == (2, 1, 2)


def test_a_long_text_is_ranked_by_its_best_part(tmp_path: Path, write: Write) -> None:
    long_text = " ".join(f"Sentence number {n} is here." for n in range(60))
    rows = [["why is it so", long_text], ["why is it so", "a short one"], ["why is it so", long_text]]
    path = write("a.jsonl", "".join(json.dumps({"query": q, "text": t}) + "\n" for q, t in rows))
    folder, plan = filled(tmp_path, path, Kind.RANK, Split(100, 10))
    sent = json.loads(body_of(folder, job(Kind.RANK), 1))["requests"][0]["contexts"]
    texts = [context["text"] for context in sent]
    assert len(texts) == plan.texts > 4
    assert texts[-1] == "a short one"
    assert all(tokens_upper(text) <= 100 for text in texts)
    assert all(part in long_text for part in texts[:-1])
    scores = [{"id": place, "score": 0.9 if place == 2 else 0.1} for place in range(len(texts))]
    collect(folder, Kind.RANK, 1, finished([{"response": scores}], ["abc-1"]))
    with folder.open(read_only=True) as database:
        found = database.execute("SELECT score FROM items ORDER BY item_no").fetchall()
    assert [score for (score,) in found] == [0.9, 0.1, 0.9]


def test_parts_of_a_text_for_vectors_are_items(tmp_path: Path, write: Write) -> None:
    long_text = "Ein Absatz mit Wörtern.\n\n" * 50
    path = write("a.jsonl", json.dumps({"id": "007", "text": long_text}) + "\n")
    folder, plan = filled(tmp_path, path, Kind.EMBED, Split(64))
    with folder.open(read_only=True) as database:
        parts = database.execute(
            "SELECT part, start, stop, text_id, text FROM parts JOIN items USING(item_no) JOIN texts USING(text_no)"
            " ORDER BY part"
        ).fetchall()
    assert [long_text[start:stop] for _, start, stop, _, _ in parts] == [text for *_, text in parts]
    assert {name for _, _, _, name, _ in parts} == {"007"}
    assert "".join(text for *_, text in parts) == long_text
    assert plan.texts + plan.repeated == len(parts)
