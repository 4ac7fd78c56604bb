"""JSON in small pieces gives the rows that the standard library finds in it, whatever stands among them."""

import io
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, Row, Source
from cfbatch_gui.core.inputs.readers import decoded_text, json_document
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from tests.thorough import tries

COLUMNS = ("a", "b")
Found = tuple[int, tuple[str, ...], bool]  # number, cells, whether it is a problem


def written(fields: list[tuple[str, str]]) -> str:
    return f"{{{', '.join(f'{json.dumps(key)}: {value}' for key, value in fields)}}}"


_pieces = ["a", "}, {", '"', "\\", '}, {"a":', "}\n{", "\0", "é", "🌍", "\u2028", "\r"]
_sound = st.lists(st.sampled_from(_pieces), max_size=3).map("".join)
_strings = st.one_of(_sound, st.lists(st.sampled_from([*_pieces, "\ud800", "\udc00"]), max_size=3).map("".join))
_others = st.sampled_from(
    ["7", "-0", "1.0", "-1.50", "1e5", "1E400", "18446744073709551616", "9" * 40, "true", "null", "NaN", "-Infinity"]
)
_nested = st.recursive(
    st.one_of(st.builds(json.dumps, _sound), _others),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2).map(lambda each: f"[{', '.join(each)}]"),
        st.lists(st.tuples(st.sampled_from("ab"), inner), max_size=2).map(written),
    ),
    max_leaves=4,
)
_values = st.one_of(st.builds(json.dumps, _strings), _nested)
_keys = st.sampled_from(["a", "a", "b", "b", "c", "", '"'])
_usual = st.tuples(_values, _values).map(lambda pair: written([("a", pair[0]), ("b", pair[1])]))
_objects = st.one_of(_usual, _usual, st.lists(st.tuples(_keys, _values), max_size=3).map(written))
_damage = st.sampled_from(
    ['{"a": 1', '"a": 1}', '{"a": 01}', '{"a": "\\x"}', "{1: 2}", '{"a": 1,}', "7", '"text"', "[]", "]"]
)


class Written(str):
    """A number with a fraction or an exponent."""


def cell(value: object) -> str:
    """The cell that a value of JSON is documented to become."""
    text = value if type(value) is str else "" if value is None else compact(value)
    return text.replace("\0", "\ufffd").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def compact(value: object) -> str:
    if isinstance(value, Written):
        return value
    if isinstance(value, list):
        return f"[{','.join(map(compact, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{compact(key)}:{compact(each)}' for key, each in value.items())}}}"
    return json.dumps(value, ensure_ascii=False)


def constant(name: str) -> Written | None:
    return None if name == "NaN" else Written(name)


def row_of(number: int, value: object) -> Found:
    if isinstance(value, str):
        value = {"a": None, "b": None}
    if not isinstance(value, dict):
        return number, ("", ""), True
    return number, tuple(cell(value.get(name)) for name in COLUMNS), False


def by_line(text: str) -> Iterator[Found]:
    blank: list[Found] = []
    for number, line in enumerate(io.StringIO(text, newline=""), 1):
        if line.isspace():
            blank.append((number, ("", ""), False))
            continue
        yield from blank
        blank.clear()
        try:
            value = json.loads(line, parse_float=Written, parse_constant=constant)
        except ValueError:
            value = 7
        yield row_of(number, value if isinstance(value, dict) else 7)


def by_element(text: str) -> Iterator[Found]:
    """The elements of an array up to the first that is not valid, or not followed by a comma or by the end."""
    decoder = json.JSONDecoder(parse_float=Written, parse_constant=constant)
    rest = text[1:].lstrip(" \n")
    for number in count(1):
        try:
            value, end = decoder.raw_decode(rest)
        except ValueError:
            yield number, ("", ""), True
            return
        yield row_of(number, value)
        rest = rest[end:].lstrip(" \n")
        if rest.startswith("]"):
            return
        if not rest.startswith(","):
            yield number + 1, ("", ""), True
            return
        rest = rest[1:].lstrip(" \n")


def found(rows: Iterator[Row]) -> list[Found]:
    return [(row.number, ("", "") if row.problem else row.cells, bool(row.problem)) for row in rows]


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoded_text, "PIECE", 64)


def source(path: Path, text: str, form: FileFormat) -> Source:
    path.write_text(text, encoding="utf-8", newline="")
    return Source(path, form, COLUMNS, path.stat().st_size, "utf-8")


@pytest.mark.usefixtures("small_pieces")
@given(
    st.lists(st.one_of(_objects, _objects, _objects, _objects, _damage), max_size=12),
    st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n", " \n", "\r\n \n"]),
    st.sampled_from(["\n", "", " ", "\r"]),
)
@settings(max_examples=tries(30, 10_000), suppress_health_check=list(HealthCheck))
def test_lines_are_rows(tmp_path: Path, lines: list[str], end: str, last: str) -> None:
    text = "".join(line + (last if number == 3 else end) for number, line in enumerate(lines))
    assert found(read_rows(source(tmp_path / "a.jsonl", text, FileFormat.JSON_LINES))) == list(by_line(text))


@pytest.mark.usefixtures("small_pieces")
@given(
    st.lists(st.one_of(_objects, _objects, _objects, _objects, _objects, _damage), min_size=1, max_size=12).filter(
        lambda elements: elements[0] != "]"
    ),
    st.sampled_from([",", ", ", ",\n  ", "\n,"]),
    st.sampled_from(["]", " ]\n", "", ",]", ","]),
)
@settings(max_examples=tries(30, 10_000), suppress_health_check=list(HealthCheck))
def test_elements_are_rows(tmp_path: Path, elements: list[str], comma: str, end: str) -> None:
    text = f"[{comma.join(elements)}{end}"
    assert found(read_rows(source(tmp_path / "a.json", text, FileFormat.JSON))) == list(by_element(text))


def test_what_the_end_of_a_piece_divides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in range(1, 40):
        monkeypatch.setattr(decoded_text, "PIECE", size)
        text = '{"a": "1"}\n\n{"a": "2"}\n\n\n{"a": "3"}\n'
        rows = found(read_rows(source(tmp_path / "a.jsonl", text, FileFormat.JSON_LINES)))
        assert rows == list(by_line(text))
        read = source(tmp_path / "a.json", '{"a": 12.5e+3}\n{"a": -0.5, "b": [-Infinity, null]}', FileFormat.JSON)
        assert [row.cells for row in read_rows(read)] == [("12.5e+3", ""), ("-0.5", "[-Infinity,null]")]


@pytest.mark.parametrize("comma", [",\n"])
def test_the_place_of_an_error_is_told_in_characters_of_the_file(tmp_path: Path, comma: str) -> None:
    for wrong, at in (('{"a": nul}', 6), ('{"a": 1 "b": 2}', 8), ('{"a": "one', 6), ('{"a": 1}', 8), ('{"a": 1},', 9)):
        for sound in (1, 6_000):
            text = "\ufeff[" + f'{{"a": "é"}}{comma}' * sound
            *rows, last = read_rows(source(tmp_path / "a.json", text + wrong, FileFormat.JSON))
            assert len(rows) == sound + (at > 7 and "b" not in wrong)
            assert last.problem.endswith(f", near character {len(text) + at:,}."), (wrong, last)


def test_an_array_on_one_line_may_be_of_any_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (decoded_text, json_document):
        monkeypatch.setattr(module, "LONGEST_LINE", 700_000)
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": f"{n} " + "x" * 500} for n in range(2_000)]))
    assert [row.cells[0].split()[0] for row in read_rows(open_source(path))] == [str(n) for n in range(2_000)]
