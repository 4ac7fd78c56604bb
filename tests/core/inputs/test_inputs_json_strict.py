"""JSON that is not quite JSON: what is wrong is said, at its place, and what is right stays."""

import json
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import Source
from cfbatch_gui.core.inputs.readers import decoded_text, json_document
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

# What is no object, and at which character.
WRONG = [
    ("{null:null}", 2),
    ('{"text":"a",}', 13),
    ('{"text"="a"}', 8),
    ('{"text":["a","b",]}', 18),
    ('{"text":"a\\x"}', 11),
]


def read(path: Path, data: str | bytes) -> tuple[Source, list[tuple[tuple[str, ...], str]]]:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    source = open_source(path)
    return source, [(row.cells, row.problem) for row in read_rows(source)]


@pytest.mark.parametrize(("wrong", "place"), WRONG)
def test_what_is_wrong_ends_a_document_and_is_one_row_of_json_lines(tmp_path: Path, wrong: str, place: int) -> None:
    before = '[{"text":"first"},\n'
    _, rows = read(tmp_path / "a.json", f'{before}{wrong}\n,{{"text":"last"}}]')
    assert rows[0] == (("first",), "")
    assert len(rows) == 2
    found = int("".join(letter for letter in rows[1][1] if letter.isdigit()))
    assert len(before) + place <= found <= len(before) + place + 1  # white space may be passed over
    with pytest.raises(InputError, match=f"is not valid JSON: character {place} is wrong"):
        read(tmp_path / "b.json", wrong)
    _, rows = read(tmp_path / "a.jsonl", f'{{"text":"first"}}\n{{"text":"second"}}\n{wrong}\n{{"text":"last"}}\n')
    assert [cells for cells, problem in rows if not problem] == [("first",), ("second",), ("last",)]
    assert rows[2] == ((wrong,), f"This line is not valid JSON: character {place} is wrong.")


@pytest.mark.parametrize(
    ("document", "place"),
    [('[{"text":"a"}] xyz', 16), ('{"text":"a"}]', 13), ('{"data":[{"text":"a"}],"data":[]}', 31)],
)
def test_what_stands_behind_the_rows_is_said(tmp_path: Path, document: str, place: int) -> None:
    _, rows = read(tmp_path / "a.json", document)
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
    source, rows = read(tmp_path / name, f"[{','.join(objects)}]" if name == "a.json" else "\n".join(objects))
    assert rows == [((str(n), cell), "") for n in range(3)]
    assert not source.notices


@pytest.mark.parametrize("value", ["[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000, "9" * 5_000])
def test_what_is_too_deep_or_too_long_is_said(tmp_path: Path, value: str) -> None:
    objects = ('{"text":"a"}', f'{{"text":"b","value":{value}}}', '{"text":"c"}')
    _, rows = read(tmp_path / "a.json", f"[{','.join(objects)}]")
    assert [rows[0][0][0], "nested too deeply" in rows[1][1]] == ["a", True]
    _, rows = read(tmp_path / "a.jsonl", "\n".join((objects[0], *objects)))
    assert [cells[0] for cells, problem in rows if not problem] == ["a", "a", "c"]
    assert "nested too deeply" in rows[2][1]


HALF = "1 character is damaged in the file, or no text, and shown as “\ufffd”."


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
    source, rows = read(tmp_path / name, f"[{','.join(objects)}]" if name == "a.json" else "\n".join(objects))
    assert rows == [((each,), "") for each in ("a", text, "c")]
    assert source.notices == notices


@pytest.mark.parametrize(
    ("objects", "notices"),
    [
        (['{"id":1,"text":"a"}', '{"id":1,"text":"b","id":2}'], ("Objects repeat keys (“id”); the last value of",)),
        (['{"text":"b","a":1,"a":2,"c":1,"c":2}'], ("Objects repeat keys (“a”, “c”); the last value of each",)),
        (['{"text":"b","more":"{\\"a\\":1,\\"a\\":2}"}'], ()),
        (['{"text":"b","more":[{"a":1},{"a":2}]}'], ()),
    ],
)
def test_repeated_keys_are_said(tmp_path: Path, objects: list[str], notices: tuple[str, ...]) -> None:
    for source, rows in (
        read(tmp_path / "a.json", f"[{','.join(objects)}]"),
        read(tmp_path / "a.json", "[\n" + ",\n".join(objects * 300) + "\n]"),
        read(tmp_path / "a.jsonl", "\n".join(("{}", *objects, "no JSON"))),
    ):
        assert any("b" in cells for cells, _ in rows)
        assert len(source.notices) == len(notices)
        assert all(said.startswith(notice) for said, notice in zip(source.notices, notices, strict=True))


def test_what_the_end_of_a_piece_divides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in range(1, 40):
        monkeypatch.setattr(decoded_text, "PIECE", size)
        text = '{"a": "1"}\n\n{"a": "2"}\n\n\n{"a": "3"}\n'
        assert [cells for cells, _ in read(tmp_path / "a.jsonl", text)[1]] == [
            (each,) for each in ("1", "", "2", "", "", "3")
        ]
        _, rows = read(tmp_path / "a.json", '{"a": 12.5e+3}\n{"a": -0.5, "b": [-Infinity, null]}')
        assert rows == [(("12.5e+3", ""), ""), (("-0.5", "[-Infinity,null]"), "")]


def test_an_array_on_one_line_may_be_of_any_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (decoded_text, json_document):
        monkeypatch.setattr(module, "LONGEST_LINE", 700_000)
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": f"{n} " + "x" * 500} for n in range(2_000)]))
    assert [row.cells[0].split()[0] for row in read_rows(open_source(path))] == [str(n) for n in range(2_000)]
