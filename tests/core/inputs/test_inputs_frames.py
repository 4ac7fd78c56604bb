"""Tables in JSON by columns, by rows or as lists of cells; the first tests use files as pandas 2 and 3 write them."""

import json
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import preview, read_rows
from cfbatch_gui.core.inputs.input_values import Role, Source
from cfbatch_gui.core.inputs.readers import json_document
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping

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


def test_lists_of_another_length_are_named(tmp_path: Path) -> None:
    for name, text in (
        ("a.json", '[["id", "text"], ["1", "one"], ["2"], ["3", "a", "b"], 7, ["4", "four"]]'),
        ("a.jsonl", '["id", "text"]\n["1", "one"]\n["2"]\n["3", "a", "b"]\n7\n["4", "four"]\n'),
        ("b.json", '{"columns": ["id", "text"], "data": [["1", "one"], ["2"], ["3", "a", "b"], 7, ["4", "four"]]}'),
    ):
        path = tmp_path / name
        path.write_text(text)
        rows = list(read_rows(open_source(path)))
        assert [row.cells for row in rows if not row.problem] == [("1", "one"), ("4", "four")], name
        assert sum(bool(row.problem) for row in rows) == 3, name


@pytest.mark.parametrize(
    "text",
    [
        '{"query": "why", "contexts": ["a", "b"]}',
        '{"a": {"b": {"c": 1}}, "d": {"e": 2}}',
        '{"name": "x", "sizes": {"0": "s", "1": "m"}}',
        '{"settings": {"mode": "fast"}}',
    ],
)
def test_other_objects_are_one_row(tmp_path: Path, text: str) -> None:
    source, _, rows = read(tmp_path / "a.json", text)
    assert (source.columns, len(rows)) == (tuple(json.loads(text)), 1)


def test_what_must_be_held_whole_may_not_be_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_document, "LONGEST_LINE", 200_000)
    path = tmp_path / "a.json"
    path.write_text(json.dumps({name: {str(n): f"text {n}" for n in range(5_000)} for name in ("a", "b", "c", "d")}))
    with pytest.raises(InputError, match="more than 200,000 characters"):
        open_source(path)
