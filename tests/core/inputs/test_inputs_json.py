"""JSON of every kind, in the layouts of other programs, and tables by columns, by rows or as lists of cells."""

import json
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import preview, read_rows
from cfbatch_gui.core.inputs.input_values import (
    Context,
    Kind,
    Layout,
    Problem,
    Query,
    Role,
    Shape,
    Source,
    Text,
)
from cfbatch_gui.core.inputs.items import read_items
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.readers import json_document
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping

REQUEST = {
    "query": "what is orange",
    "contexts": [{"text": "a colour"}, {"text": "a cloud"}],
    "external_reference": "r-1",
}
OPENAI = [
    {"custom_id": "a", "method": "POST", "url": "/v1/embeddings", "body": {"model": "m", "input": "one"}},
    {"custom_id": "b", "method": "POST", "url": "/v1/embeddings", "body": {"model": "m", "input": ["two", "three"]}},
]
RANK_LLM = {
    "query": {"text": "why", "qid": 7},
    "candidates": [
        {"docid": "d1", "score": 2.5, "doc": {"title": "T", "contents": "because"}},
        {"docid": 2, "doc": "no"},
    ],
}


def lines(*objects: object) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


def everything(path: Path, kind: Kind | None = None) -> tuple[object, Layout, list[object]]:
    source = open_source(path)
    mapping = suggest_mapping(source, kind, preview(source))
    assert check_mapping(mapping, source) == ""
    return source.shape, mapping.layout, list(read_items(source, mapping))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("body.json", json.dumps({"requests": [REQUEST]}, indent=2)),
        ("body.jsonl", lines(REQUEST)),
        ("body.json", json.dumps([REQUEST], indent=2)),
    ],
)
def test_requests_for_rankings(tmp_path: Path, name: str, data: str) -> None:
    (tmp_path / name).write_text(data)
    shape, layout, items = everything(tmp_path / name)
    assert (shape, layout) == (Shape.REQUESTS, Layout.NESTED)
    assert items == [Query(1, "what is orange", "r-1", (Context(1, "a colour"), Context(1, "a cloud")))]


def test_requests_for_vectors(tmp_path: Path) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"requests": [{"text": ["one", "two"], "external_reference": "x"}, {"text": "three"}]}))
    assert everything(path)[2] == [Text(1, "one", "x"), Text(1, "two", "x"), Text(2, "three")]
    contexts = [{"text": "a", "external_reference": "001"}, {"text": "b", "external_reference": "002"}]
    path.write_text(json.dumps({"requests": [{"contexts": contexts}]}))
    assert everything(path)[2] == [Text(1, "a", "001"), Text(1, "b", "002")]


def test_requests_that_do_not_belong_together_are_named(tmp_path: Path) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"requests": [REQUEST, REQUEST, {"contexts": [{"text": "alone"}]}, 7]}))
    found = everything(path)[2]
    assert [item.row for item in found if isinstance(item, Problem)] == [3, 4]


def test_openai_and_rank_llm(tmp_path: Path) -> None:
    path = tmp_path / "batch.jsonl"
    path.write_text(lines(*OPENAI))
    shape, layout, items = everything(path)
    assert (shape, layout) == (Shape.OPENAI, Layout.TEXTS)
    assert items == [Text(1, "one", "a"), Text(2, "two", "b"), Text(2, "three", "b")]
    path.write_text(lines(RANK_LLM))
    shape, layout, items = everything(path)
    assert (shape, layout) == (Shape.RANK_LLM, Layout.NESTED)
    assert items == [Query(1, "why", "7", (Context(1, "T because", "d1"), Context(1, "no", "2")))]


def test_reranking_lists(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(lines(*[{"query": f"q{n}", "positive": ["good"], "negative": ["bad", "worse"]} for n in range(3)]))
    _, layout, items = everything(path)
    assert layout is Layout.JUDGED
    assert items[0] == Query(
        1, "q0", "", (Context(1, "good", "", "1"), Context(1, "bad", "", "0"), Context(1, "worse", "", "0"))
    )


HITS = [
    {
        "_index": "shop",
        "_id": f"A-{n}",
        "_score": 2.5,
        "_source": {"title": f"Lamp {n}", "body": f"{n} bulbs for the desk"},
    }
    for n in range(3)
]
ANSWER = {
    "took": 5,
    "timed_out": False,
    "_shards": {"total": 1, "failed": 0},
    "hits": {"total": {"value": 3, "relation": "eq"}, "max_score": 2.5, "hits": HITS},
}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("answer.json", json.dumps(ANSWER, indent=2)),
        ("hits-only.json", json.dumps({"hits": ANSWER["hits"]})),
        ("dump.jsonl", lines(*HITS)),  # a saved search index
    ],
)
def test_what_a_search_has_found(tmp_path: Path, name: str, data: str) -> None:
    path = tmp_path / name
    path.write_text(data)
    source = open_source(path)
    assert (source.shape, source.columns) == (Shape.RECORDS, ("_id", "title", "body"))
    _, layout, items = everything(path, Kind.EMBED)
    assert layout is Layout.TEXTS
    assert [(item.id, item.text) for item in items if isinstance(item, Text)] == [
        (f"A-{n}", f"{n} bulbs for the desk") for n in range(3)
    ]


@pytest.mark.parametrize(
    "answer",
    [
        {"status": "ok", "data": {"total": 2, "items": [{"id": 1, "text": "one"}, {"id": 2, "text": "two"}]}},
        {"data": [{"type": "notes", "id": "1", "attributes": {"text": "one"}, "links": {"self": "/1"}}]},  # JSON:API
        {"features": [], "rows": [{"row_idx": 0, "row": {"id": 1, "text": "one"}, "truncated_cells": []}]},
        {"data": {"notes": {"nodes": [{"id": 1, "text": "one"}], "pageInfo": {"hasNextPage": False}}}},
        {"data": {"notes": {"edges": [{"cursor": "x", "node": {"id": 1, "text": "one"}}]}}},
    ],
)
def test_a_list_in_an_envelope_of_an_envelope(tmp_path: Path, answer: object) -> None:
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(answer))
    source = open_source(path)
    assert (source.columns, next(read_rows(source)).cells) == (("id", "text"), ("1", "one"))


I, Q, C, L = Role.ID, Role.QUERY, Role.CONTEXT, Role.LABEL  # noqa: E741
ROWS = [("why", "because, it is", "1.5"), ("why", "no\nway", "2.0"), ("who", "é 日本", "")]
QUERY, TEXT = ["why", "why", "who"], ["because, it is", "no\nway", "é 日本"]
SCHEMA = '{"fields":[{"name":"index","type":"string"},{"name":"query","type":"string"}],"primaryKey":["index"]}'


def written(orient: str, index: tuple[str, ...]) -> str:
    """The exact output of `frame.to_json(orient=…)`; the scores are inserted as given."""
    rows = [f'"query":{json.dumps(q)},"text":{json.dumps(t)},"score":{s or "null"}' for q, t, s in ROWS]
    cells = [f"[{json.dumps(q)},{json.dumps(t)},{s or 'null'}]" for q, t, s in ROWS]
    columns = [[json.dumps(q) for q in QUERY], [json.dumps(t) for t in TEXT], ["1.5", "2.0", "null"]]
    named = ['"query"', '"text"', '"score"']
    labels = [label if orient == "split" and label.isdigit() else f'"{label}"' for label in index]
    match orient:
        case "columns":
            each = [",".join(map(":".join, zip(labels, column, strict=True))) for column in columns]
            return "{" + ",".join(f"{name}:{{{cells}}}" for name, cells in zip(named, each, strict=True)) + "}"
        case "index":
            return "{" + ",".join(f"{label}:{{{row}}}" for label, row in zip(labels, rows, strict=True)) + "}"
        case "split":
            return f'{{"columns":[{",".join(named)}],"index":[{",".join(labels)}],"data":[{",".join(cells)}]}}'
        case "list":
            return "{" + ",".join(f"{n}: [{', '.join(c)}]" for n, c in zip(named, columns, strict=True)) + "}"
        case "table":
            data = ",".join(f'{{"index":{label},{row}}}' for label, row in zip(labels, rows, strict=True))
            return f'{{"schema":{SCHEMA},"data":[{data}]}}'
        case "lines":
            return "".join(f"{{{row}}}\n" for row in rows)
        case _:
            return "[" + ",".join(f"{{{row}}}" for row in rows) + "]"


def read(path: Path, text: str) -> tuple[Source, tuple[Role, ...], list[tuple[str, ...]]]:
    path.write_text(text, encoding="utf-8")
    source = open_source(path)
    rows = list(read_rows(source))
    assert [row.problem for row in rows] == [""] * len(rows)
    return source, suggest_mapping(source, None, preview(source)).roles, [row.cells for row in rows]


@pytest.mark.parametrize("orient", ["columns", "index", "split", "records", "lines", "list"])
@pytest.mark.parametrize("is_indented", [False, True])
def test_every_orientation(tmp_path: Path, orient: str, is_indented: bool) -> None:
    text = written(orient, ("0", "1", "2"))
    if is_indented and orient != "lines":
        text = json.dumps(json.loads(text), indent=4, ensure_ascii=False)
    source, roles, rows = read(tmp_path / "a.json", text)
    assert (source.columns, roles, rows) == (("query", "text", "score"), (Q, C, L), ROWS)


@pytest.mark.parametrize("orient", ["columns", "index", "split", "table"])
@pytest.mark.parametrize("index", [("b-2", "a-1", "c-3"), ("2", "0", "1"), ("10", "9", "8")])
def test_an_index_that_says_something_is_the_id_and_its_order_stays(
    tmp_path: Path, orient: str, index: tuple[str, ...]
) -> None:
    source, roles, rows = read(tmp_path / "a.json", written(orient, index))
    assert (source.columns, roles) == (("index", "query", "text", "score"), (I, Q, C, L))
    assert rows == [(label, *row) for label, row in zip(index, ROWS, strict=True)]


def test_lists_of_cells(tmp_path: Path) -> None:
    body = [["001", "A text of some length, the first", 1.10], ["002", "A text of some length, the other", None]]
    expected = [("001", "A text of some length, the first", "1.1"), ("002", "A text of some length, the other", "")]
    header = ["id", "text", "price"]
    for name, text in (
        ("values.json", json.dumps([header, *body])),
        ("indented.json", json.dumps([header, *body], indent=2)),
        ("lines.jsonl", "".join(json.dumps(row) + "\n" for row in [header, *body])),
        ("sheet.json", json.dumps({"range": "A1:C3", "majorDimension": "ROWS", "values": [header, *body]}, indent=2)),
    ):
        source, _, rows = read(tmp_path / name, text)
        assert (source.columns, source.has_header, rows) == (("id", "text", "price"), True, expected), name
    source, _, rows = read(tmp_path / "none.json", json.dumps(body))
    assert (source.columns, source.has_header, rows) == (("Column 1", "Column 2", "Column 3"), False, expected)


def test_what_must_be_held_whole_may_not_be_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_document, "LONGEST_LINE", 200_000)
    path = tmp_path / "a.json"
    path.write_text(json.dumps({name: {str(n): f"text {n}" for n in range(5_000)} for name in ("a", "b", "c", "d")}))
    with pytest.raises(InputError, match="more than 200,000 characters"):
        open_source(path)
