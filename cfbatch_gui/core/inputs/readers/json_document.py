"""Read JSON and JSON Lines: an array of objects, an object that holds one, or consecutive objects."""

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, BinaryIO, NoReturn

import msgspec

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.column_names import is_id, is_text
from cfbatch_gui.core.inputs.input_values import Block, Row, Shape, Source, unusual_row
from cfbatch_gui.core.inputs.open_file import open_bytes
from cfbatch_gui.core.inputs.readers.decoded_text import (
    LONGEST_LINE,
    lines_of_piece,
    text_chunks,
    text_pieces,
    without_line_end,
)
from cfbatch_gui.core.inputs.readers.json_shapes import is_frame, rows_of, rows_of_frame, with_index
from cfbatch_gui.core.inputs.readers.json_values import (
    Number,
    cell_text,
    lenient_decoder,
    parse_array,
    parse_object,
    reason_of,
)
from cfbatch_gui.core.messages import message

Fields = dict[str, Any]
_lines_decoder = msgspec.json.Decoder(Fields, float_hook=Number)
_array_decoder = msgspec.json.Decoder(list[Fields], float_hook=Number)


def objects_of_lines(text: str) -> list[Fields] | None:
    try:
        objects = _lines_decoder.decode_lines(text)
    except (ValueError, RecursionError):
        return None
    # To the decoder a line end is white space like any other. But “}” and “{” can only meet between two objects: where
    # each of these places is a line end, and there are no other line ends, each line is one object.
    end = "\r\n" if "\r" in text else "\n"
    between = text.count(f"}}{end}{{")
    ends = between + text.endswith(end)
    is_one_a_line = between == len(objects) - 1 and all(text.count(sign) == ends for sign in end)
    return objects if is_one_a_line else None


def objects_of_array(elements: str) -> list[Fields] | None:
    """The objects of a text that has one or more of them with commas between; otherwise None."""
    try:
        return _array_decoder.decode(f"[{elements}]")
    except (ValueError, RecursionError):
        return None


def rows_of_objects(objects: Sequence[Fields], columns: Sequence[str], text: str) -> Sequence[tuple[str, ...]]:
    """The cells of each object by the keys that are columns; `text` is what the objects were decoded from."""
    try:
        values = (
            list(map(itemgetter(*columns), objects)) if len(columns) > 1 else [(each[columns[0]],) for each in objects]
        )
    except KeyError:
        values = [tuple([fields.get(column) for column in columns]) for fields in objects]
    has_nul = "\\" in text and "\\u0000" in text  # no other text that can be decoded here needs to be changed
    if not has_nul and set(map(type, chain.from_iterable(values))) == {str}:
        return values
    return list(zip(*map(_cells, zip(*values, strict=True)), strict=True))


def _cells(values: Sequence[object]) -> Sequence[str]:
    return list(map(cell_text, values))


_SPACE = re.compile(r"[ \t\r\n]*")
_FIRST_KEY = re.compile(r'\{[ \t\r\n]*"[^"\\]*"')
_LEAST_TOGETHER = 64 * 1024  # characters in which objects are looked for that are whole


def read_json_document(source: Source, progress: Callable[[int], None] | None) -> Generator[Block | Row, None, None]:
    """Yield the rows of every element, numbered from 1; strings are texts.

    Where the JSON ends early, one problem follows.
    """
    number = 0
    with open_bytes(source.path) as file:
        for found in _values(file, source, progress):
            if isinstance(found, _Objects) and source.shape is Shape.PLAIN:
                rows = rows_of_objects(found.values, source.columns, found.text)
                yield Block(range(number + 1, number + 1 + len(rows)), rows)
                number += len(rows)
                continue
            for value in _single((found,)):
                number += 1
                yield from _rows_of_value(source, number, value)


def _rows_of_value(source: Source, number: int, value: object) -> Iterable[Row]:
    empty = ("",) * len(source.columns)
    if isinstance(value, Broken):
        return (Row(number, empty, value.reason),)
    if source.shape is Shape.ARRAYS and isinstance(value, list):
        return (row_of_array(source, number, value),) if number > source.has_header else ()
    fields = {"text": value} if isinstance(value, str) else value
    if not isinstance(fields, dict):
        return (Row(number, empty, message("Element {number:,} is neither an object nor a text.", number=number)),)
    rows = rows_of(source, fields)
    if isinstance(rows, str):
        return (Row(number, empty, rows),)
    return [Row(number, cells) for cells in rows]


def row_of_array(source: Source, number: int, cells: list[Any]) -> Row:
    row = Row(number, tuple(map(cell_text, cells)))
    return row if len(cells) == len(source.columns) else unusual_row(row, len(source.columns))


class Broken:
    """The point from which the JSON is not valid; `cause` says why, in the form that fits within a sentence."""

    def __init__(self, cause: str) -> None:
        self.cause = cause
        self.reason = message("From here on this is not valid JSON: {cause}.", cause=cause)


class _Objects:
    """Elements of an array that were decoded together, and the text that they were decoded from."""

    def __init__(self, values: list[dict[str, Any]], text: str) -> None:
        self.values, self.text = values, text


def _single(values: Iterable[object]) -> Iterator[object]:
    for value in values:
        if isinstance(value, _Objects):
            yield from value.values
        else:
            yield value


def values_of(file: BinaryIO, source: Source) -> Iterator[object]:
    """Yield the elements one by one; where the JSON is invalid, a `Broken` is the last. Raises InputError."""
    return _single(_values(file, source, None))


def _values(file: BinaryIO, source: Source, progress: Callable[[int], None] | None) -> Iterator[object]:
    pieces = text_chunks(file, source.path.name, source.encoding, progress, is_sure=source.is_encoding_sure)
    text = _Text(pieces, source)
    is_first = True
    try:
        while text.peek():
            if text.peek() == "[":
                yield from _elements(text)
            elif text.peek() == "{":
                yield from _of_object(text, is_first=is_first)
            else:
                text.refuse("Extra data")
            is_first = False
            if text.peek() == ",":
                text.take(",")
    except json.JSONDecodeError as exc:
        yield Broken(
            message("{reason}, near character {position:,}", reason=reason_of(exc), position=text.position(exc))
        )
    except (ValueError, RecursionError):
        yield Broken(message("it is nested too deeply, or a number has too many digits"))


def _elements(text: "_Text") -> Iterator[object]:
    text.take("[")
    if text.peek() == "]":
        text.take("]")
        return
    while True:
        yield text.objects() or text.value()
        if text.peek() == "]":
            text.take("]")
            return
        text.take(",")


def _of_object(text: "_Text", *, is_first: bool) -> Iterator[object]:
    """Yield the elements of an object: of its array if it is an envelope, its rows if it holds a table, else itself."""
    text.take("{")
    fields: dict[str, Any] = {}
    rows_under = ""  # the key that held the elements
    is_empty = text.peek() == "}"
    while not is_empty:
        key = text.key()
        text.take(":")
        if key == rows_under:
            text.refuse(message("the key “{key}” comes twice", key=key))
        if not rows_under and text.peek() == "[" and _holds_rows(key, fields):
            yield from (
                _rows_of_split(fields, text)
                if key == "data" and isinstance(fields.get("columns"), list)
                else _elements(text)
            )
            rows_under = key
        else:
            fields[key] = text.value()
            text.check_size()
        if text.peek() == "}":
            break
        text.take(",")
    text.take("}")
    if not rows_under and fields:
        if not is_first or text.peek():  # each of several objects is a row, whatever it holds
            yield fields
        elif rows := _inner_list(fields):
            yield from rows
        else:
            yield from rows_of_frame(fields) if is_frame(fields) else _only_list(fields) or (fields,)


def _inner_list(fields: dict[str, Any]) -> list[object]:
    """The objects in an envelope within an envelope, such as {"hits": {"hits": […]}} or GraphQL's edges.

    [] for none.
    """
    inner = next((value for key, value in fields.items() if key in _OUTER and isinstance(value, dict)), {})
    asked = next(iter(inner.values())) if len(inner) == 1 and "data" in fields else None
    if isinstance(asked, dict) and not asked.keys().isdisjoint(("edges", "nodes")):
        inner = asked
    lists = [value for key, value in inner.items() if key in _INNER or value is asked]
    rows = next((value for value in lists if isinstance(value, list)), [])
    is_row = fields.keys() & _OWN_TEXT or inner.keys() & _OWN_TEXT
    return rows if not is_row and all(isinstance(each, dict) for each in rows) else []


def _only_list(fields: dict[str, Any]) -> list[object]:
    """The objects in an object's only list, under any key, if it has no text or id itself; [] for none."""
    lists = [value for key, value in fields.items() if isinstance(value, list) and key not in _OWN_LISTS]
    is_list_of_objects = len(lists) == 1 and len(lists[0]) > 1 and all(isinstance(each, dict) for each in lists[0])
    says_something = fields.keys() & _OWN_TEXT or any(is_text(key) or is_id(key) for key in fields)
    return lists[0] if is_list_of_objects and not says_something else []


def _holds_rows(key: object, fields: dict[str, Any]) -> bool:
    is_envelope = key in _ENVELOPES or (key == "values" and "majorDimension" in fields)  # as in Google's Sheets API
    return is_envelope and not fields.keys() & _OWN_TEXT


def _rows_of_split(fields: dict[str, Any], text: "_Text") -> Iterator[object]:
    index = fields.get("index")
    rows = (row if isinstance(row, list) else [row] for row in _single(_elements(text)))
    yield from with_index(index if isinstance(index, list) else (), fields["columns"], rows)


def is_envelope(value: object) -> bool:
    """Whether an object is not a row itself but holds a list of rows."""
    return (
        isinstance(value, dict)
        and not value.keys() & _OWN_TEXT
        and (
            any(key in _ENVELOPES and isinstance(rows, list) for key, rows in value.items())
            or bool(_only_list(value) or _inner_list(value))
        )
    )


# Keys under which programs put the list of what they export. “contexts” and “candidates” are no such lists.
_ENVELOPES = frozenset({"requests", "data", "rows", "items", "records", "results", "examples", "questions", "hits"})
_OUTER = frozenset({"hits", "data", "response", "result", "results"})
_INNER = _ENVELOPES | {"docs", "edges", "nodes"}
_OWN_TEXT = frozenset({"query", "text", "question", "custom_id"})
_OWN_LISTS = frozenset({"contexts", "candidates", "messages"})


class _Text:
    def __init__(self, pieces: Iterator[str], source: Source) -> None:
        self._pieces, self._source = pieces, source
        self._buffer, self._at = "", 0
        self._before = 0  # characters of the file before those of the buffer; the next two are counted as it is
        self._end = 0  # of the last value that was decoded by itself
        self._single_until = 0  # values before it are decoded by themselves
        self._between = ""  # two objects of an array: from the “}” of the one to the first key of the other

    def peek(self) -> str:
        """The next character that is no white space, "" at the end."""
        while True:
            found = _SPACE.match(self._buffer, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._fill(1):
                return ""

    def take(self, sign: str) -> None:
        if self.peek() != sign:
            self.refuse(f"Expecting '{sign}'")
        self._at += 1

    def key(self) -> str:
        if self.peek() != '"':
            self.refuse("Expecting property name")
        return str(self.value())

    def refuse(self, message: str) -> NoReturn:
        raise json.JSONDecodeError(message, self._buffer, self._at)

    def value(self) -> object:
        self.peek()
        wanted = 64 * 1024
        while True:
            try:
                value, end = lenient_decoder.raw_decode(self._buffer, self._at)
                if end + 2 < len(self._buffer) or not self._fill(1):  # 12 may be the beginning of 123, or of 12e+3
                    self._at, self._end = end, self._before + end
                    return value
            except json.JSONDecodeError as exc:
                # An error at the end of the buffer may only mean that more text must be read.
                is_at_end = exc.pos >= len(self._buffer) - 12 or "Unterminated" in exc.msg
                if not is_at_end or not self._fill(wanted):
                    raise
            wanted *= 2

    def objects(self) -> _Objects | None:
        """The next elements of an array that are whole in the window, decoded together.

        None where `value` must take them.
        """
        if self._before + self._at < self._single_until or self.peek() != "{":
            return None
        self._learn_between()
        if not self._between:
            return None
        if len(self._buffer) - self._at < _LEAST_TOGETHER:
            self._fill(_LEAST_TOGETHER)
        end = self._buffer.rfind(self._between, self._at) + 1
        text = self._buffer[self._at : end]
        values = objects_of_array(text) if text else None
        if values is None:
            self._single_until = self._before + (end or len(self._buffer))
            return None
        self._at = end
        return _Objects(values, text)

    def _learn_between(self) -> None:
        start = self._end - self._before - 1
        self._end = 0
        key = _FIRST_KEY.match(self._buffer, self._at)
        if start >= 0 and key and self._buffer[start] == "}":
            self._between = self._buffer[start : key.end()]

    def position(self, exc: json.JSONDecodeError) -> int:
        return self._before + exc.pos + 1

    def check_size(self) -> None:
        if self._before + self._at > LONGEST_LINE:
            raise self._too_large()

    def _fill(self, characters: int) -> bool:
        parts: list[str] = []
        added = 0
        for piece in self._pieces:
            parts.append(piece)
            added += len(piece)
            if added >= characters:
                break
        if added:  # otherwise nothing may move, for an error that was found at the end is reported by its place
            self._buffer = "".join((self._buffer[self._at :], *parts))
            self._before += self._at
            self._at = 0
        if len(self._buffer) > LONGEST_LINE:
            raise self._too_large()
        return added > 0

    def _too_large(self) -> InputError:
        return InputError(
            message(
                "{name} has a JSON value of more than {most:,} characters. Write one object a line (JSON "
                "Lines), and choose that.",
                name=self._source.path.name,
                most=LONGEST_LINE,
            )
        )


_NO_ARRAY = message("This line is not a JSON array. Each line must be one, such as [“1”, “text”].")


def read_json_lines(source: Source, progress: Callable[[int], None] | None) -> Generator[Block | Row, None, None]:
    """Yield one row a line in the order of `source.columns`.

    A missing key and null are empty, lists and objects compact JSON. A line without an object is a problem.
    """
    lines = _Lines(source)
    with open_bytes(source.path) as file:
        for piece in text_pieces(file, source.path.name, source.encoding, progress, is_sure=source.is_encoding_sure):
            objects = None if source.shape is Shape.ARRAYS else objects_of_lines(piece)
            yield from lines.rows_of_lines(piece) if objects is None else lines.rows_of_objects(objects, piece)


class _Lines:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._empty = ("",) * len(source.columns)
        self._is_header = source.shape is Shape.ARRAYS and source.has_header
        self._number = self._blank = 0  # lines so far; those of them at the end that are blank

    def rows_of_objects(self, objects: Sequence[dict[str, Any]], piece: str) -> Iterator[Block | Row]:
        yield from self._blank_lines()
        first = self._number + 1
        self._number += len(objects)
        if self._source.shape is Shape.PLAIN:
            rows = rows_of_objects(objects, self._source.columns, piece)
            yield Block(range(first, self._number + 1), rows)
        else:
            for number, fields in enumerate(objects, first):
                yield from self._rows_of(number, fields)

    def rows_of_lines(self, piece: str) -> Iterator[Row]:
        """Yield the rows of the next lines; blank ones are rows once another line follows."""
        source = self._source
        for line in lines_of_piece(piece):
            if line.isspace():
                self._number += 1
                self._blank += 1
                continue
            yield from self._blank_lines()
            self._number += 1
            if self._is_header:
                self._is_header = False
            elif source.shape is Shape.ARRAYS:
                yield _row_of_line(source, self._number, line)
            elif isinstance(fields := parse_object(line), str):
                yield Row(self._number, (without_line_end(line)[:200], *self._empty[1:]), fields)
            elif source.shape is Shape.PLAIN:
                yield Row(self._number, tuple([cell_text(fields.get(column)) for column in source.columns]))
            else:
                yield from self._rows_of(self._number, fields)

    def _blank_lines(self) -> Iterable[Row]:
        first, self._blank = self._number - self._blank + 1, 0
        return [Row(number, self._empty) for number in range(first, self._number + 1)]

    def _rows_of(self, number: int, fields: dict[str, Any]) -> Iterable[Row]:
        rows = rows_of(self._source, fields)
        if isinstance(rows, str):
            return (Row(number, self._empty, rows),)
        return [Row(number, cells) for cells in rows]  # several texts of one line have its number


def _row_of_line(source: Source, number: int, line: str) -> Row:
    cells = parse_array(line)
    if cells is None:
        return Row(number, (without_line_end(line)[:200], *("",) * (len(source.columns) - 1)), _NO_ARRAY)
    return row_of_array(source, number, cells)
