"""Read JSON and JSON Lines: an array of objects, an object that holds one, or consecutive objects."""

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any, BinaryIO, NoReturn

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.column_names import is_id, is_text
from cfbatch_gui.core.inputs.input_values import Block, Candidate, FileFormat, Row, Shape, Source, fitted, width_problem
from cfbatch_gui.core.inputs.open_file import open_bytes
from cfbatch_gui.core.inputs.readers import json_shapes
from cfbatch_gui.core.inputs.readers.decoded_text import LONGEST_LINE, lines_of_piece, text_chunks, text_pieces
from cfbatch_gui.core.inputs.recognise.headers import with_header
from cfbatch_gui.core.messages import message

_RowsOf = Callable[[json_shapes.Fields], list[tuple[str, ...]] | str]
SUFFIXES, SUFFIXES_OF_LINES = (".json",), (".jsonl", ".ndjson", ".jl")
_SPACE = re.compile(r"[ \t\r\n\x1e]*")  # with the mark that begins a record of a JSON text sequence
# What a program puts before its JSON: a name, a call, or a guard against being run.
PREFIX = re.compile(r"""\s*(?:\)\]\}',?|[A-Za-z_$][\w.$]*\s*[=(])\s*(?=[\[{])""")
_SUFFIX = re.compile(r"\)?\s*;?\s*\Z")


_NO_ARRAY = message("line_is_not_json_array_each")
_NO_OBJECT = message("line_is_not_json_object_each")
_FROM_HERE = message("from_here_on_is_not_valid")
_BLANK = object()  # a line


def read_json(source: Source, progress: Callable[[int], None] | None) -> Generator[Block | Row, None, None]:
    """Yield the rows of every element of a document or of every line, numbered from 1; strings in a document are texts.

    A missing key and null are empty, lists and objects compact JSON. A line without an object is a problem, a blank
    one an empty row if another line follows. Where a document ends early, one problem follows.
    """
    rows_of = json_shapes.rows_reader(source)
    is_header_next = source.shape is Shape.ARRAYS and source.has_header
    blank: list[Row] = []
    number = 0
    with open_bytes(source.path) as file:
        found = _values(file, source, progress)
        for value in found if source.shape is Shape.PLAIN else _single(found):
            if value is _BLANK:
                number += 1
                blank.append(Row(number, ("",) * len(source.columns)))
                continue
            yield from blank
            blank.clear()
            if isinstance(value, tuple):
                first, number = number + 1, number + len(value)
                yield Block(range(first, number + 1), json_shapes.rows_of_objects(value, source.columns))
                continue
            number += 1
            if is_header_next:
                is_header_next = False
            else:
                yield from _rows_of_value(source, number, value, rows_of)


def _values(file: BinaryIO, source: Source, progress: Callable[[int], None] | None = None) -> Iterator[object]:
    """Yield the elements or lines; a tuple of objects stands for each of them."""
    return (_values_of_lines if source.format == FileFormat.JSON_LINES else _values_of_document)(file, source, progress)


def _single(values: Iterable[object]) -> Iterator[object]:
    return chain.from_iterable(value if isinstance(value, tuple) else (value,) for value in values)


def _rows_of_value(source: Source, number: int, value: object, rows_of: _RowsOf) -> Iterable[Row]:
    is_lines, are_arrays = source.format == FileFormat.JSON_LINES, source.shape is Shape.ARRAYS
    fields = {"text": value} if isinstance(value, str) and not is_lines else value
    shown = ""
    found: list[tuple[str, ...]] | str
    if isinstance(value, list) and are_arrays:
        width = len(source.columns)
        problem = width_problem(len(value), width) if len(value) not in (0, width) else ""
        return (Row(number, fitted(list(map(json_shapes.cell_text, value)), width), problem),)
    if isinstance(value, json_shapes.Broken):
        shown, found = value.text, value.reason
    elif isinstance(fields, dict) and not (is_lines and are_arrays):
        found = rows_of(fields)
        if not isinstance(found, str):
            return [Row(number, cells) for cells in found]  # several texts of one line have its number
    elif is_lines:
        shown, found = json_shapes.cell_text(value)[:200], _NO_ARRAY if are_arrays else _NO_OBJECT
    else:
        found = message("element_number_is_neither_object_nor", number=number)
    return (Row(number, (shown, *("",) * (len(source.columns) - 1)), found),)


def _values_of_lines(file: BinaryIO, source: Source, progress: Callable[[int], None] | None) -> Iterator[object]:
    """Yield the objects of a piece together if each of its lines holds one, or what each line holds."""
    for piece in text_pieces(file, source, progress):
        text = piece.replace("\r\n", "\n").removesuffix("\n")
        ends = text.count("\n")
        # Between a line that ends an object and one that begins one, a comma can part elements of a list alone.
        are_whole = text[:1] + text[-1:] == "{}" and text.count("}\n{") == ends and "\r" not in text
        objects = json_shapes.parse_objects(text.replace("\n", ",")) if are_whole else ()
        if len(objects) == ends + 1:
            yield objects
        else:
            yield from (_BLANK if line.isspace() else json_shapes.parse_line(line) for line in lines_of_piece(piece))


def _values_of_document(file: BinaryIO, source: Source, progress: Callable[[int], None] | None) -> Iterator[object]:
    """Yield the elements; where the JSON is invalid, a `Broken` is the last. Raises InputError."""
    pieces = text_chunks(file, source, progress)
    text = _Text(pieces, source)
    is_first = True
    try:
        has_prefix = text.peek() not in ("", "[", "{") and text.pass_over(PREFIX)
        while text.peek() and not (has_prefix and not is_first and text.pass_over(_SUFFIX)):
            if text.peek() == "[":
                yield from _elements(text)
            elif text.peek() == "{":
                yield from _of_object(text, is_first=is_first)
            else:
                text.refuse()
            is_first = False
            if text.peek() == ",":
                text.take(",")
    except json.JSONDecodeError as exc:
        yield json_shapes.Broken(_FROM_HERE, message("character_position_is_wrong", position=text.position(exc)))
    except (ValueError, RecursionError) as exc:
        yield json_shapes.Broken(_FROM_HERE, json_shapes.cause_of(exc))


def _elements(text: "_Text") -> Iterator[object]:
    for _ in text.parted("[", "]"):
        yield text.objects() or text.value()


def _of_object(text: "_Text", *, is_first: bool) -> Iterator[object]:
    """Yield the elements of an object: of its array if it is an envelope, its rows if it holds a table, else itself."""
    fields: dict[str, Any] = {}
    rows_under = ""  # the key that held the elements
    for _ in text.parted("{", "}"):
        if text.peek() != '"':
            text.refuse()
        key = str(text.value())
        text.take(":")
        if key == rows_under:
            text.refuse()
        if not rows_under and text.peek() == "[" and _holds_rows(key, fields):
            is_split = key == "data" and isinstance(fields.get("columns"), list)
            yield from _rows_of_split(fields, text) if is_split else _elements(text)
            rows_under = key
        else:
            fields[key] = text.value()
            text.check_size()
    if not rows_under and fields:
        # Each of several objects is a row, whatever it holds.
        yield from (fields,) if not is_first or text.peek() else rows_of_object(fields)


def rows_of_object(fields: dict[str, Any]) -> Iterable[object]:
    """The rows in a document of one object: of its only list, of a table, by ids, or itself."""
    if rows := _list_within(fields):
        return rows
    if json_shapes.holds_only_numbers(fields):
        return (fields,)  # which is refused
    if json_shapes.is_frame(fields):
        return json_shapes.rows_of_frame(fields)
    return json_shapes.rows_of_map(fields) if json_shapes.is_map(fields) else (fields,)


def _list_within(fields: dict[str, Any], depth: int = 3) -> list[object]:
    """The only list of objects under any key, unless a text or an id stands beside it; [] for none or several."""
    names = [key for key, value in fields.items() if not isinstance(value, dict | list)]
    if not fields.keys().isdisjoint(_OWN_TEXT) or any(is_text(name) or is_id(name) for name in names):
        return []
    found = [_list_within(value, depth - 1) for value in fields.values() if isinstance(value, dict) and depth]
    found += [value for key, value in fields.items() if isinstance(value, list) and key not in _OWN_LISTS]
    lists = [rows for rows in found if rows and all(isinstance(each, dict) for each in rows)]
    return lists[0] if len(lists) == 1 else []


def _holds_rows(key: object, fields: dict[str, Any]) -> bool:
    is_envelope = key in _ENVELOPES or (key == "values" and "majorDimension" in fields)  # as in Google's Sheets API
    return is_envelope and not fields.keys() & _OWN_TEXT


def _rows_of_split(fields: dict[str, Any], text: "_Text") -> Iterator[object]:
    index = fields.get("index")
    rows = (row if isinstance(row, list) else [row] for row in _single(_elements(text)))
    yield from json_shapes.with_index(index if isinstance(index, list) else (), fields["columns"], rows)


def is_envelope(value: object) -> bool:
    """Whether an object is not a row itself but holds rows."""
    if not isinstance(value, dict):
        return False
    has_list = any(_holds_rows(key, value) and isinstance(rows, list) for key, rows in value.items())
    return has_list or rows_of_object(value) != (value,)


# Keys under which programs put the list of what they export. “contexts” and “candidates” are no such lists.
_ENVELOPES = frozenset({"requests", "data", "rows", "items", "records", "results", "examples", "questions", "hits"})
_OWN_TEXT = frozenset({"query", "text", "question", "custom_id"})
_OWN_LISTS = frozenset({"contexts", "candidates", "messages"})


class _Text:
    def __init__(self, pieces: Iterator[str], source: Source) -> None:
        self._pieces, self._source = pieces, source
        self._buffer, self._at = "", 0
        self._is_flat = True
        self._before = 0  # characters of the file before those of the buffer

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
            self.refuse()
        self._at += 1

    def parted(self, begin: str, end: str) -> Iterator[None]:
        """Yield before each element between two signs, with commas between the elements."""
        self.take(begin)
        while self.peek() != end:
            yield
            if self.peek() != end:
                self.take(",")
                if self.peek() == end:
                    self.refuse()
        self.take(end)

    def pass_over(self, pattern: re.Pattern[str]) -> bool:
        """Whether what follows in the buffer is such; it is then passed over."""
        found = pattern.match(self._buffer, self._at)
        if found:
            self._at = found.end()
        return bool(found)

    def refuse(self) -> NoReturn:
        raise json.JSONDecodeError("", self._buffer, self._at)

    def value(self) -> object:
        self.peek()
        wanted = 64 * 1024
        while True:
            try:
                value, end = json_shapes.lenient_decoder.raw_decode(self._buffer, self._at)
                if end + 2 < len(self._buffer) or not self._fill(1):  # 12 may be the beginning of 123, or of 12e+3
                    self._at = end
                    return value
            except json.JSONDecodeError as exc:
                # An error at the end of the buffer may only mean that more text must be read.
                is_at_end = exc.pos >= len(self._buffer) - 12 or "Unterminated" in exc.msg
                if not is_at_end or not self._fill(wanted):
                    raise
            wanted *= 2

    def objects(self) -> tuple[json_shapes.Fields, ...]:
        """The next objects of an array whose ends can be seen in the buffer, decoded at once."""
        self.peek()
        end = self._buffer.rfind("},", self._at) + 1
        if self._is_flat and end and self._buffer.startswith("{", self._at):
            if found := json_shapes.parse_objects(self._buffer[self._at : end]):
                self._at = end
                return found
            self._is_flat = False  # the end was that of a record within one: trying it for each would take long
        return ()

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
        return InputError(message("name_json_value_more_than_most", name=self._source.path.name, most=LONGEST_LINE))


_OBJECTS_FOR_KEYS = 1000
_SCRIPT_SUFFIXES = (".js", ".json", ".jsonl")
_RECORD_MARK = "\x1e"  # of JSON text sequences


def open_json(source: Source, candidate: Candidate) -> Source:
    """Find the columns of JSON or JSON Lines. Raises InputError."""
    is_lines = source.format == FileFormat.JSON_LINES
    with open_bytes(source.path) as file:
        first = list(islice(_single(_values(file, source)), _OBJECTS_FOR_KEYS))
    texts = [{"text": each} if isinstance(each, str) and not is_lines else each for each in first]
    objects = [each for each in texts if isinstance(each, dict)]
    arrays = [each for each in first if isinstance(each, list)]
    if any(arrays) and len(arrays) >= 9 * len(objects):
        found = _of_arrays(source, arrays, candidate.options.has_header)
    else:
        found = _of_objects(source, [fields for fields in objects if fields])
    if not found.columns:
        raise _without_objects(source, next((each for each in first if isinstance(each, json_shapes.Broken)), None))
    notices = json_shapes.notice_of_repeated_keys(candidate.text.split("\n") if is_lines else (candidate.text,))
    return replace(found, notices=(*found.notices, *notices))


def _without_objects(source: Source, broken: json_shapes.Broken | None) -> InputError:
    name = source.path.name
    if broken and source.format == FileFormat.JSON:
        sentence = message("name_is_not_valid_json_cause", name=name, cause=broken.cause)
    else:
        sentence = message("name_holds_no_json_objects_write", name=name)
    return InputError(sentence, detail=broken.cause if broken else "objects without keys")


def json_format(suffix: str, sample: str, *, is_whole: bool) -> FileFormat | None:
    is_named = suffix in SUFFIXES + SUFFIXES_OF_LINES
    begin = sample.lstrip()
    if sample.startswith(_RECORD_MARK) or (suffix in _SCRIPT_SUFFIXES and PREFIX.match(sample)):
        return FileFormat.JSON
    if not begin.startswith(("[", "{")):
        return FileFormat.JSON_LINES if is_named else None
    lines = [line for line in sample.split("\n") if line.strip()]
    whole_lines = lines if is_whole or len(lines) == 1 else lines[:-1]
    first = [type(json_shapes.parse_line(line)) for line in whole_lines[:2]]
    is_around_others = begin[1:].lstrip().startswith('"requests"') or (
        is_whole and len(lines) == 1 and is_envelope(json_shapes.parse_line(lines[0]))
    )
    if (set(first) == {dict} and not is_around_others) or first == [list, list]:
        return FileFormat.JSON_LINES
    if suffix in SUFFIXES_OF_LINES and not is_around_others:
        has_objects = any(isinstance(json_shapes.parse_line(line), dict) for line in whole_lines[:50])
        return FileFormat.JSON_LINES if has_objects else FileFormat.JSON
    is_document = is_named or is_around_others or (begin.startswith("[") and _is_document(sample, is_whole=is_whole))
    return FileFormat.JSON if is_document else None


def _is_document(sample: str, *, is_whole: bool) -> bool:
    try:
        json.loads(sample)
    except json.JSONDecodeError as exc:
        return not is_whole and exc.pos >= len(sample) - 20 and '"' in sample
    except (ValueError, RecursionError):
        return False
    return '"' in sample


def _of_objects(source: Source, objects: list[dict[str, Any]]) -> Source:
    is_of_figures = len(objects) == 1 and json_shapes.holds_only_numbers(objects[0])
    if objects and (is_of_figures or all(map(json_shapes.is_batch_answer, objects))):
        raise InputError(message("name_holds_answers_another_service_or", name=source.path.name))
    is_bulk = source.format == FileFormat.JSON_LINES and objects and json_shapes.bulk_id(objects[0]) is not None
    shape = Shape.BULK if is_bulk else json_shapes.shape_of(objects) if objects else Shape.PLAIN
    columns, notice = json_shapes.columns_for(shape, objects), json_shapes.notice_for(shape, objects)
    return replace(source, columns=columns, shape=shape, notices=(notice,) if notice else ())


def _of_arrays(source: Source, arrays: list[list[Any]], has_header: bool | None) -> Source:
    rows = [tuple(map(json_shapes.cell_text, array)) for array in arrays]
    if len(rows) == 1 and has_header is None:
        has_header = False
    return with_header(replace(source, shape=Shape.ARRAYS), rows, has_header)
