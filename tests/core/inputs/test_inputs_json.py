"""JSON of every kind, in the layouts of other programs, and tables in it; what is wrong is said at its place."""

import json
from itertools import chain
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Problem, Query, Role, Shape, Source, Text
from cfbatch_gui.core.inputs.readers import decoded_text, json_document
from cfbatch_gui.core.messages import comma_list, message, quoted
from tests.core.inputs.files import C, I, L, Q, everything, json_lines, opened, suggested
from tests.support.sentences import code_of, refuses

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


CONTEXTS = [{"text": "a", "external_reference": "001"}, {"text": "b", "external_reference": "002"}]
GEMINI = {"key": "k", "request": {"content": {"parts": [{"text": "one "}, {"text": "text"}]}}}
JUDGED = {"query": "q", "positive": ["good"], "negative": ["bad", "worse"]}
RANKED = (Query(1, "what is orange", "r-1", (Text(1, "a colour"), Text(1, "a cloud"))),)
KNOWN: list[tuple[str, Shape, Layout, tuple[object, ...]]] = [
    (json.dumps({"requests": [REQUEST]}, indent=2), Shape.REQUESTS, Layout.NESTED, RANKED),
    (json_lines(REQUEST), Shape.REQUESTS, Layout.NESTED, RANKED),
    (json.dumps([REQUEST], indent=2), Shape.REQUESTS, Layout.NESTED, RANKED),
    (json.dumps({"requests": [{"text": ["one", "two"], "external_reference": "x"}, {"text": "three"}]}),
     Shape.REQUESTS, Layout.TEXTS, (Text(1, "one", "x"), Text(1, "two", "x"), Text(2, "three"))),
    (json.dumps({"requests": [{"contexts": CONTEXTS}]}), Shape.REQUESTS, Layout.TEXTS,
     (Text(1, "a", "001"), Text(1, "b", "002"))),
    (json_lines(*OPENAI), Shape.BATCH, Layout.TEXTS, (Text(1, "one", "a"), Text(2, "two", "b"), Text(2, "three", "b"))),
    (json_lines(GEMINI), Shape.BATCH, Layout.TEXTS, (Text(1, "one text", "k"),)),
    (json_lines(RANK_LLM), Shape.PLAIN, Layout.NESTED,
     (Query(1, "why", "7", (Text(1, "T because", "d1"), Text(1, "no", "2"))),)),
    (json_lines(JUDGED), Shape.PLAIN, Layout.JUDGED,
     (Query(1, "q", "", (Text(1, "good", "", "1"), Text(1, "bad", "", "0"), Text(1, "worse", "", "0"))),)),
]  # fmt: skip


@pytest.mark.parametrize(("data", "shape", "layout", "items"), KNOWN)
def test_known_forms_of_requests_and_lists(
    tmp_path: Path, data: str, shape: Shape, layout: Layout, items: tuple[object, ...]
) -> None:
    path = tmp_path / "body.json"
    path.write_text(data)
    assert everything(path) == (shape, layout, list(items))


def test_requests_that_do_not_belong_together_are_named(tmp_path: Path) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"requests": [REQUEST, REQUEST, {"contexts": [{"text": "alone"}]}, 7]}))
    found = everything(path)[2]
    assert [item.row for item in found if isinstance(item, Problem)] == [3, 4]


HITS = [
    {"_index": "shop", "_id": f"A-{n}", "_score": 2.5, "_source": {"title": f"Lamp {n}", "body": f"{n} bulbs, a desk"}}
    for n in range(3)
]
ANSWER = {"took": 5, "_shards": {"total": 1}, "hits": {"total": {"value": 3}, "max_score": 2.5, "hits": HITS}}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("answer.json", json.dumps(ANSWER, indent=2)),
        ("hits-only.json", json.dumps({"hits": ANSWER["hits"]})),
        ("dump.jsonl", json_lines(*HITS)),  # a saved search index
    ],
)
def test_what_a_search_has_found(tmp_path: Path, name: str, data: str) -> None:
    source = opened(tmp_path / name, data)
    assert source.columns == ("_index", "_id", "_score", "_source.title", "_source.body")
    _, layout, items = everything(source.path, Kind.EMBED)
    assert layout is Layout.TEXTS
    assert [(item.id, item.text) for item in items if isinstance(item, Text)] == [
        (f"A-{n}", f"{n} bulbs, a desk") for n in range(3)
    ]


NOTE = {"id": 1, "text": "one"}


@pytest.mark.parametrize(
    ("answer", "way"),
    [
        ({"status": "ok", "data": {"total": 2, "items": [NOTE, NOTE]}}, ""),
        ({"data": [{"type": "notes", "attributes": NOTE, "links": {"self": "/1"}}]}, "attributes."),  # JSON:API
        ({"features": [], "rows": [{"row_idx": 0, "row": NOTE, "truncated_cells": []}]}, "row."),
        ({"data": {"notes": {"nodes": [NOTE], "pageInfo": {"hasNextPage": False}}}}, ""),
        ({"data": {"notes": {"edges": [{"cursor": "x", "node": NOTE}]}}}, "node."),
        (
            {"type": "FeatureCollection", "features": [{"properties": NOTE, "geometry": {"type": "Point"}}]},
            "properties.",
        ),
    ],
)
def test_a_list_in_an_envelope_and_records_within_records(tmp_path: Path, answer: object, way: str) -> None:
    source = opened(tmp_path / "answer.json", json.dumps(answer))
    cells = dict(zip(source.columns, next(read_rows(source)).cells, strict=True))
    assert (cells[f"{way}id"], cells[f"{way}text"]) == ("1", "one")
    roles = dict(zip(source.columns, suggested(source, Kind.EMBED).roles, strict=True))
    assert (roles[f"{way}id"], roles[f"{way}text"]) == (Role.ID, Role.TEXT)


def test_a_record_that_is_only_sometimes_one_and_a_map_of_many_keys(tmp_path: Path) -> None:
    many = {f"k{n}": n for n in range(100)}
    lines = json_lines({"text": "plain", "a.b": 1, "m": many}, {"text": {"en": "hello"}, "a": {"b": {"c": 2}}})
    source = opened(tmp_path / "a.jsonl", lines)
    assert source.columns == ("text", "text.en", "a.b", "m", "a.b.c")
    first, second = (row.cells for row in read_rows(source))
    assert first == ("plain", "", "1", json.dumps(many, separators=(",", ":")), "")
    assert second == ("", "hello", "", "", "2")


ID_MAPS: list[tuple[object, tuple[str, ...], tuple[str, ...]]] = [
    ({"doc1": "one", "doc2": "two", "doc3": "three"}, ("id", "text"), ("doc1", "one")),
    ({"0": "one", "1": "two"}, ("id", "text"), ("0", "one")),
    ({"a": {"text": "one"}, "b": {"text": "two", "n": 1}, "c": {}}, ("id", "text", "n"), ("a", "one", "")),
    ({"a": ["x", "y"], "b": ["z"], "c": ["u", "v"]}, ("id", "contexts"), ("a", '["x","y"]')),
    ({"query": "one", "plan": "two", "city": "three"}, ("query", "plan", "city"), ("one", "two", "three")),
]


@pytest.mark.parametrize(("document", "columns", "first"), ID_MAPS)
@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_of_values_by_their_ids(
    tmp_path: Path, document: object, columns: tuple[str, ...], first: tuple[str, ...], indent: int | None
) -> None:
    source, _, rows = read(tmp_path / "a.json", json.dumps(document, indent=indent))
    assert (source.columns, rows[0]) == (columns, first)


def test_lines_for_a_search_engine_have_their_ids_in_the_lines_above(tmp_path: Path) -> None:
    actions = [{"index": {"_id": "7"}}, {"create": {}}, {"update": {"_id": 8}}]
    lines = chain.from_iterable(zip(actions, [{"text": "one"}, {"text": "two"}, {"n": 1}], strict=True))
    source = opened(tmp_path / "bulk.ndjson", json_lines(*lines))
    found = [(row.number, row.cells) for row in read_rows(source)]
    assert (source.columns, found) == (
        ("_id", "text", "n"), [(2, ("7", "one", "")), (4, ("", "two", "")), (6, ("8", "", "1"))]
    )  # fmt: skip


ANSWERED = {"custom_id": "a", "response": {"status_code": 200, "body": {"data": [{"embedding": [0.5]}]}}}


@pytest.mark.parametrize("data", [json_lines(ANSWERED), json.dumps({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}})])
def test_answers_of_other_services_and_figures_by_ids_are_refused(tmp_path: Path, data: str) -> None:
    with refuses(InputError, "name_holds_answers_another_service_or"):
        opened(tmp_path / "batch.jsonl", data)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tweets.js", 'window.YTD.tweets.part0 = [{"text":"one"},{"text":"two"}]'),
        ("call.json", 'callback([{"text":"one"},{"text":"two"}]);\n'),
        ("guarded.json", ')]}\',\n[{"text":"one"},{"text":"two"}]'),
        ("sequence.jsonseq", '\x1e{"text":"one"}\n\x1e{"text":"two"}\n'),
    ],
)
def test_what_stands_around_the_json_is_passed_over(tmp_path: Path, name: str, text: str) -> None:
    assert read(tmp_path / name, text)[2] == [("one",), ("two",)]


def test_lists_in_a_column_of_texts_are_said(tmp_path: Path) -> None:
    for name, lines in (
        ("text", json_lines({"text": ["a", "b"], "documents": ["c"]}, {"text": "c"})),
        ("paragraphs", json_lines({"title": "T", "paragraphs": [{"context": "one"}]})),
    ):
        assert [f"“{name}”" in notice for notice in opened(tmp_path / "a.jsonl", lines).notices] == [True]


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
    source = opened(path, text)
    rows = list(read_rows(source))
    assert [row.problem for row in rows] == [""] * len(rows)
    return source, suggested(source).roles, [row.cells for row in rows]


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
    data = json.dumps({name: {str(n): f"text {n}" for n in range(5_000)} for name in ("a", "b", "c", "d")})
    with refuses(InputError, "name_json_value_more_than_most", most=200000):
        opened(tmp_path / "a.json", data)


# What is no object, and at which character.
WRONG = [
    ("{null:null}", 2),
    ('{"text":"a",}', 13),
    ('{"text"="a"}', 8),
    ('{"text":["a","b",]}', 18),
    ('{"text":"a\\x"}', 11),
]


def document(name: str, objects: list[str]) -> str:
    return f"[{','.join(objects)}]" if name == "a.json" else "\n".join(objects)


def read_with_problems(path: Path, data: str | bytes) -> tuple[Source, list[tuple[tuple[str, ...], str]]]:
    source = opened(path, data)
    return source, [(row.cells, row.problem) for row in read_rows(source)]


@pytest.mark.parametrize(("wrong", "place"), WRONG)
def test_what_is_wrong_ends_a_document_and_is_one_row_of_json_lines(tmp_path: Path, wrong: str, place: int) -> None:
    before = '[{"text":"first"},\n'
    _, rows = read_with_problems(tmp_path / "a.json", f'{before}{wrong}\n,{{"text":"last"}}]')
    assert rows[0] == (("first",), "")
    assert len(rows) == 2
    found = int("".join(letter for letter in rows[1][1] if letter.isdigit()))
    assert len(before) + place <= found <= len(before) + place + 1  # white space may be passed over
    with pytest.raises(InputError, match=f"is not valid JSON: character {place} is wrong"):
        read_with_problems(tmp_path / "b.json", wrong)
    _, rows = read_with_problems(
        tmp_path / "a.jsonl", f'{{"text":"first"}}\n{{"text":"second"}}\n{wrong}\n{{"text":"last"}}\n'
    )
    assert [cells for cells, problem in rows if not problem] == [("first",), ("second",), ("last",)]
    assert rows[2] == ((wrong,), f"This line is not valid JSON: character {place} is wrong.")


@pytest.mark.parametrize(
    ("document", "place"),
    [('[{"text":"a"}] xyz', 16), ('{"text":"a"}]', 13), ('{"data":[{"text":"a"}],"data":[]}', 31)],
)
def test_what_stands_behind_the_rows_is_said(tmp_path: Path, document: str, place: int) -> None:
    _, rows = read_with_problems(tmp_path / "a.json", document)
    assert rows[0] == (("a",), "")
    assert rows[1][1] == f"From here on this is not valid JSON: character {place} is wrong."


VALUES = [  # as written, and as read
    ("1e400", "1e400"),
    ("1.10", "1.10"),
    ("123456789012345678901234567890", "123456789012345678901234567890"),
    ("NaN", ""),
    ("Infinity", "Infinity"),
    ("[NaN,1.10]", "[null,1.10]"),
    ("true", "true"),
    ('"\\ud83e\\udd99"', "🦙"),
    ('"a\tb"', "a\tb"),
    ("[" * 300 + "]" * 300, "[" * 300 + "]" * 300),
]


@pytest.mark.parametrize(("written", "cell"), VALUES)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_values_come_as_they_are_written(tmp_path: Path, name: str, written: str, cell: str) -> None:
    objects = [f'{{"text":"{n}","value":{written}}}' for n in range(3)]
    source, rows = read_with_problems(tmp_path / name, document(name, objects))
    assert rows == [((str(n), cell), "") for n in range(3)]
    assert not source.notices


@pytest.mark.parametrize("value", ["[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000, "9" * 5_000])
def test_what_is_too_deep_or_too_long_is_said(tmp_path: Path, value: str) -> None:
    objects = ('{"text":"a"}', f'{{"text":"b","value":{value}}}', '{"text":"c"}')
    _, rows = read_with_problems(tmp_path / "a.json", f"[{','.join(objects)}]")
    assert [rows[0][0][0], code_of(rows[1][1]) == "from_here_on_is_not_valid"] == ["a", True]
    _, rows = read_with_problems(tmp_path / "a.jsonl", "\n".join((objects[0], *objects)))
    assert [cells[0] for cells, problem in rows if not problem] == ["a", "a", "c"]
    assert code_of(rows[2][1]) == "line_is_not_valid_json_cause"


HALF = message("n_characters_are_damaged_file_or", n=1)


@pytest.mark.parametrize("name", ["a.json", "a.txt"])
@pytest.mark.parametrize(
    ("written", "text", "notices"),
    [
        ("\\ud800", "\ufffd", (HALF,)),
        ("\\ud83e\\ud83e\\udd99", "\ufffd🦙", (HALF,)),
        ("\\\\ud800", "\\ud800", ()),
        ("\\\\\\ud800", "\\\ufffd", (HALF,)),
        ("a\\u0000b", "a\ufffdb", ()),
    ],
)
def test_escapes_of_half_a_character_are_said(
    tmp_path: Path, name: str, written: str, text: str, notices: tuple[str, ...]
) -> None:
    objects = [f'{{"text":"{each}"}}' for each in ("a", written, "c")]
    source, rows = read_with_problems(tmp_path / name, document(name, objects))
    assert rows == [((each,), "") for each in ("a", text, "c")]
    assert source.notices == notices


@pytest.mark.parametrize(
    ("objects", "keys"),
    [
        (['{"id":1,"text":"a"}', '{"id":1,"text":"b","id":2}'], ["id"]),
        (['{"text":"b","a":1,"a":2,"c":1,"c":2}'], ["a", "c"]),
        (['{"text":"b","more":"{\\"a\\":1,\\"a\\":2}"}'], []),
        (['{"text":"b","more":[{"a":1},{"a":2}]}'], []),
    ],
)
def test_repeated_keys_are_said(tmp_path: Path, objects: list[str], keys: list[str]) -> None:
    said = message("objects_repeat_keys_names_last_value", names=comma_list([quoted(key) for key in keys]))
    for source, rows in (
        read_with_problems(tmp_path / "a.json", f"[{','.join(objects)}]"),
        read_with_problems(tmp_path / "a.json", "[\n" + ",\n".join(objects * 300) + "\n]"),
        read_with_problems(tmp_path / "a.jsonl", "\n".join(("{}", *objects, "no JSON"))),
    ):
        assert any("b" in cells for cells, _ in rows)
        assert source.notices == ((said,) if keys else ())


def test_what_the_end_of_a_piece_divides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in range(1, 40):
        monkeypatch.setattr(decoded_text, "PIECE", size)
        text = '{"a": "1"}\n\n{"a": "2"}\n\n\n{"a": "3"}\n'
        assert [cells for cells, _ in read_with_problems(tmp_path / "a.jsonl", text)[1]] == [
            (each,) for each in ("1", "", "2", "", "", "3")
        ]
        _, rows = read_with_problems(tmp_path / "a.json", '{"a": 12.5e+3}\n{"a": -0.5, "b": [-Infinity, null]}')
        assert rows == [(("12.5e+3", ""), ""), (("-0.5", "[-Infinity,null]"), "")]


def test_an_array_on_one_line_may_be_of_any_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (decoded_text, json_document):
        monkeypatch.setattr(module, "LONGEST_LINE", 700_000)
    _, rows = read_with_problems(tmp_path / "a.json", json.dumps([{"text": f"{n} " + "x" * 500} for n in range(2_000)]))
    assert [cells[0].split()[0] for cells, _ in rows] == [str(n) for n in range(2_000)]
