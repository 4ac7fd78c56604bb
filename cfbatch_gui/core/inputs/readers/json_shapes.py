"""Decode JSON and convert its objects to rows.

By their keys, by the known forms of other programs, and the forms of pandas' to_json. A value becomes the text of a
cell, and what is lost by that is found.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import count, islice
from typing import Any

import msgspec

from cfbatch_gui.core.inputs import column_names as vocabulary
from cfbatch_gui.core.inputs.input_values import Shape, Source
from cfbatch_gui.core.messages import Message, cut_list, enumerated, message, quoted

Fields = dict[str, Any]


class Number(str):
    """A number with a fraction or an exponent, as it was written: 1.10 stays 1.10."""

    __slots__ = ()


def _constant(name: str) -> Number | None:
    """NaN, as Python's programs write it for what is missing, is null; Infinity stays as it is written."""
    return None if name == "NaN" else Number(name)


# Control characters within a text, which JSON forbids, mean what they are.
lenient_decoder = json.JSONDecoder(parse_float=Number, parse_constant=_constant, strict=False)
_decoder = msgspec.json.Decoder(float_hook=Number)
_encoder = msgspec.json.Encoder(enc_hook=lambda number: msgspec.Raw(number.encode()))


class Broken:
    """What is not valid JSON, with a sentence about its cause and the beginning of its text."""

    def __init__(self, reason: Message, cause: Message, text: str = "") -> None:
        self.reason, self.cause, self.text = reason.filled(cause=cause), cause, text


def parse_line(line: str) -> object:
    try:
        return _decoder.decode(line)
    except (ValueError, RecursionError):
        try:  # the strict decoder refuses lone surrogates, NaN and control characters, which spoil nothing else
            return lenient_decoder.decode(line)
        except (ValueError, RecursionError) as exc:
            return Broken(message("line_is_not_valid_json_cause"), cause_of(exc), line.rstrip("\r\n")[:200])


def parse_objects(text: str) -> tuple[Fields, ...]:
    """Objects with commas between them, decoded at once; () if there is anything else among them."""
    try:
        found = tuple(_decoder.decode(f"[{text}]"))
    except (ValueError, RecursionError):
        return ()
    return found if set(map(type, found)) == {dict} else ()


def cause_of(exc: ValueError | RecursionError) -> Message:
    """What is wrong with a JSON text, in the form that fits within a sentence."""
    if isinstance(exc, json.JSONDecodeError):
        return message("character_position_is_wrong", position=exc.pos + 1)
    return message("is_nested_too_deeply_or_number")


def cell_text(value: object) -> str:
    if type(value) is str:
        return harmless(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    try:
        return harmless(_encoder.encode(value).decode())
    except (UnicodeEncodeError, TypeError, ValueError):  # lone surrogates inside, as above
        return harmless(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def harmless(text: str) -> str:
    r"""Replace lone surrogates and NULs, which JSON can escape (\ud800, \u0000), by U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


_MOST_OPENED = 64  # different keys of records within records; more are a map, and stay one cell
_DEEPEST = 5


def columns_of(objects: Sequence[dict[str, Any]], depth: int = _DEEPEST) -> tuple[str, ...]:
    """The names of all values in order of appearance; one in a record within is named by its way, as data.text."""
    found: dict[str, None] = {}
    for key in dict.fromkeys(key for fields in objects for key in fields):
        if not key.strip() or harmless(key) != key:
            continue
        values = [fields[key] for fields in objects if key in fields]
        records = [value for value in values if isinstance(value, dict) and value]
        inner = columns_of(records, depth - 1) if records and depth else ()
        if not 0 < len(inner) <= _MOST_OPENED:
            inner = ()
        if not inner or any(value is not None and not isinstance(value, dict) for value in values):
            found[key] = None
        found.update((f"{key}.{each}", None) for each in inner)
    return tuple(found)


def rows_of_objects(objects: Sequence[Fields], columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The cells of objects for columns named as `columns_of` does; made by columns, as most have texts alone."""
    found = []
    for column in columns:
        get = _value_at if "." in column else dict[str, Any].get
        values = [get(fields, column) for fields in objects]
        if column in _opened(columns):
            values = [None if isinstance(value, dict) else value for value in values]
        found.append(_cells_of_column(values))
    return list(zip(*found, strict=True))


@lru_cache(maxsize=16)
def _opened(columns: tuple[str, ...]) -> frozenset[str]:
    """The names of records whose values have columns of their own."""
    return frozenset(column[:at] for column in columns for at, sign in enumerate(column) if sign == ".")


def _cells_of_column(values: list[Any]) -> list[str]:
    if set(map(type, values)) != {str}:
        return list(map(cell_text, values))
    joined = "".join(values)  # one look at all texts finds what is harmful in any
    return values if harmless(joined) == joined else list(map(harmless, values))


def _value_at(fields: Fields, way: str) -> object:
    if way in fields:
        return fields[way]
    end = way.find(".")
    while end >= 0:  # a key may itself have a point
        if isinstance(inner := fields.get(way[:end]), dict):
            return _value_at(inner, way[end + 1 :])
        end = way.find(".", end + 1)
    return None


_START = re.compile(r"[\[{]")
_HIGH, _LOW = r"[dD][89abAB][0-9a-fA-F]{2}", r"[dD][c-fC-F][0-9a-fA-F]{2}"
HALF_CHARACTER = re.compile(rf"(?<!\\)(?:\\\\)*+\\u(?:{_HIGH}(?!\\u{_LOW})|{_LOW}(?<!\\u{_HIGH}\\u{_LOW}))")


def notice_of_repeated_keys(parts: Iterable[str]) -> tuple[str, ...]:
    """The notice about keys that an object repeats; the parts are JSON and may end anywhere."""
    found: dict[str, None] = {}

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            found.update((key, None) for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return fields

    decoder = json.JSONDecoder(object_pairs_hook=noted)
    for part in parts:
        with suppress(ValueError, RecursionError):  # the objects before have been noted
            at = 0
            while start := _START.search(part, at):
                _, at = decoder.raw_decode(part, start.start())
    names = cut_list([quoted(harmless(key)) for key in islice(found, 3)], len(found) - 3)
    return (message("objects_repeat_keys_names_last_value", names=names),) if found else ()


_RANK_COLUMNS = ("external_reference", "query", "contexts")
_EMBED_COLUMNS = ("external_reference", "text")
_BATCH_COLUMNS = ("custom_id", "text")
_REQUEST_KEYS = frozenset({"query", "contexts", "text", "truncate_inputs", "external_reference", "pooling"})
_BULK_ACTIONS = ("index", "create", "update")
_LEAST_IN_MAP = 3
_LISTS_OF_PAIRS = ("pos", "neg", "candidates")


def is_frame(value: object) -> bool:
    """Whether an object holds a table: objects with equal keys, or lists of equal length."""
    if not isinstance(value, dict) or not value:
        return False
    first = next(iter(value.values()))
    if isinstance(first, list):
        is_even = all(isinstance(each, list) and len(each) == len(first) > 0 for each in value.values())
        return is_even and len(value) > 1 and (any(map(vocabulary.is_known, value)) or len(value) <= len(first))
    if not isinstance(first, dict) or not first or (len(value) == len(first) == 1 and not _are_figures(first)):
        return False
    return all(isinstance(each, dict) and each.keys() == first.keys() for each in value.values())


def rows_of_frame(frame: Fields) -> Iterator[object]:
    """Yield the rows of a frame; row names that do more than count become a column "index"."""
    first = next(iter(frame.values()))
    if isinstance(first, list):
        yield from with_index((), list(frame), (list(cells) for cells in zip(*frame.values(), strict=True)))
        return
    inner = list(first)
    if _are_rows(list(frame), inner):
        yield from with_index(list(frame), inner, ([row[name] for name in inner] for row in frame.values()))
    else:
        cells = ([column[name] for column in frame.values()] for name in inner)
        yield from with_index(inner, list(frame), cells)


def is_map(fields: Fields) -> bool:
    """Whether the keys of a document's only object are ids, and its values texts, records or lists."""
    values = list(fields.values())
    are_ids = len(values) >= _LEAST_IN_MAP or (len(values) > 1 and _are_figures(fields))
    is_one_kind = any(all(isinstance(value, kind) for value in values) for kind in (str, dict, list))
    has_names = any(vocabulary.is_known(key) and not any(map(str.isdigit, key)) for key in fields)
    return are_ids and is_one_kind and not has_names


def rows_of_map(fields: Fields) -> Iterator[Fields]:
    for key, value in fields.items():
        if isinstance(value, dict):
            yield {"id": key, **{("id (2)" if name == "id" else name): cell for name, cell in value.items()}}
        else:
            yield {"id": key, ("text" if isinstance(value, str) else "contexts"): value}


def holds_only_numbers(fields: Fields) -> bool:
    """Whether a document has numbers by two ids, as judgements and scores of a run are stored."""
    inner = [value for record in fields.values() if isinstance(record, dict) for value in record.values()]
    are_numbers = all(isinstance(value, int | Number) and not isinstance(value, bool) for value in inner)
    return bool(inner) and are_numbers and all(isinstance(record, dict) for record in fields.values())


def with_index(index: Sequence[object], columns: Sequence[object], rows: Iterator[list[Any]]) -> Iterator[object]:
    """Yield rows as objects; one of another width stays a list."""
    names = vocabulary.complete_names([cell_text(name) for name in columns], len(columns))
    is_counted = all(cell_text(name) == str(number) for number, name in enumerate(index))
    own = "level_0" if "index" in names else "index"  # as pandas' reset_index names it
    for number, cells in zip(count(), rows):
        if len(cells) != len(names):
            yield cells
            continue
        fields = {} if is_counted else {own: index[number] if number < len(index) else None}
        fields.update(zip(names, cells, strict=True))
        yield fields


def _are_rows(outer: Sequence[str], inner: Sequence[str]) -> bool:
    if _are_figures(outer) != _are_figures(inner):
        return _are_figures(outer)
    known = [sum(map(vocabulary.is_known, names)) / len(names) for names in (outer, inner)]
    return known[0] < known[1] if known[0] != known[1] else len(outer) > len(inner)


def _are_figures(names: Sequence[str] | Fields) -> bool:
    return all(name.lstrip("-").isdigit() for name in names)


def shape_of(objects: Sequence[Fields]) -> Shape:
    """The shape of a file's objects; PLAIN unless at least 90 % of them have the same known form."""
    for shape, test in _TESTS:
        fitting = sum(map(test, objects))
        if fitting * 10 >= len(objects) * 9 and (shape is not Shape.REQUESTS or any(map(_is_surely_request, objects))):
            return shape
    return Shape.PLAIN


def columns_for(shape: Shape, objects: Sequence[Fields]) -> tuple[str, ...]:
    if shape is Shape.REQUESTS:
        ranks = sum("query" in fields for fields in objects)
        columns = _RANK_COLUMNS if ranks * 2 >= len(objects) else _EMBED_COLUMNS
        return columns if any("external_reference" in str(fields) for fields in objects) else columns[1:]
    if shape is Shape.BATCH:
        return _BATCH_COLUMNS
    if shape is Shape.BULK:
        return columns_of([{"_id": "", **fields} for fields in objects if bulk_id(fields) is None])
    return columns_of(objects)


def notice_for(shape: Shape, objects: Sequence[Fields]) -> str:
    if shape is Shape.REQUESTS:
        settings = [key for key in ("truncate_inputs", "pooling") if any(key in fields for fields in objects)]
        if settings:
            return message("requests_say_names_here_is_option", names=enumerated([quoted(key) for key in settings]))
    if shape is Shape.BATCH:
        return message("only_texts_their_ids_are_taken")
    lists = [key for key in columns_of(objects) if any(_is_list_of_texts(key, fields.get(key)) for fields in objects)]
    if shape is Shape.PLAIN and lists:
        names = enumerated([quoted(key) for key in lists])
        return message("names_holds_lists_each_is_read", names=names)
    return ""


def _is_list_of_texts(key: str, value: object) -> bool:
    if not isinstance(value, list) or not value or vocabulary.is_context(key) or key in _LISTS_OF_PAIRS:
        return False
    if isinstance(value[0], dict):
        return any(vocabulary.is_text(name) or vocabulary.is_context(name) for name in value[0])
    return isinstance(value[0], str) and vocabulary.is_text(key)


def rows_reader(source: Source) -> Callable[[Fields], list[tuple[str, ...]] | str]:
    """A function that gives the rows of an object, each a tuple of cells, or the sentence that says why it has none."""
    if source.shape is Shape.BATCH:
        return _batch
    if source.shape is Shape.REQUESTS:
        requests = _ranking if "query" in source.columns else _embedding

        def last_cells(fields: Fields) -> list[tuple[str, ...]] | str:
            rows = requests(fields)
            return rows if isinstance(rows, str) else [cells[-len(source.columns) :] for cells in rows]

        return last_cells
    if source.shape is Shape.BULK:
        name = ""  # of the next record

        def with_id(fields: Fields) -> list[tuple[str, ...]]:
            nonlocal name
            found = bulk_id(fields)
            record, name = {"_id": name, **fields}, found or ""
            return rows_of_objects([record], source.columns) if found is None else []

        return with_id
    return lambda fields: rows_of_objects([fields], source.columns)


def _is_request(fields: Fields) -> bool:
    return fields.keys() <= _REQUEST_KEYS and not fields.keys().isdisjoint(("contexts", "text"))


def _is_surely_request(fields: Fields) -> bool:
    """Whether it has a list of contexts or of texts, or a reference; {"text": "one"} may be any row."""
    contexts = fields.get("contexts")
    has_contexts = isinstance(contexts, list) and bool(contexts) and all(isinstance(each, dict) for each in contexts)
    return _is_request(fields) and (
        has_contexts or isinstance(fields.get("text"), list) or {"external_reference", "text"} <= fields.keys()
    )


def _is_batch(fields: Fields) -> bool:
    """Whether it is a line for the batches of OpenAI (custom_id, body) or Gemini (key, request)."""
    return any(name in fields and isinstance(fields.get(body), dict) for name, body in _BATCHES)


def is_batch_answer(fields: Fields) -> bool:
    return any(name in fields and isinstance(fields.get("response"), dict) for name, _ in _BATCHES)


def bulk_id(fields: Fields) -> str | None:
    """The id in a line that goes before a record in a search engine's bulk file; None for any other line."""
    action = fields.get(next(iter(fields), "")) if len(fields) == 1 else None
    is_action = isinstance(action, dict) and not fields.keys().isdisjoint(_BULK_ACTIONS)
    return cell_text(action.get("_id")) if is_action and isinstance(action, dict) else None


_BATCHES = (("custom_id", "body"), ("key", "request"))
_TESTS = ((Shape.BATCH, _is_batch), (Shape.REQUESTS, _is_request))


def _ranking(fields: Fields) -> list[tuple[str, ...]] | str:
    if "contexts" not in fields:
        return message("request_no_contexts_while_others_file")
    if "query" not in fields:
        return message("request_no_query_while_others_file")
    return [tuple([cell_text(fields.get(column)) for column in _RANK_COLUMNS])]


def _embedding(fields: Fields) -> list[tuple[str, ...]] | str:
    if "query" in fields:
        return message("request_query_while_others_file_none")
    reference = cell_text(fields.get("external_reference"))
    contexts = fields.get("contexts")
    if isinstance(contexts, list):
        own = [cell_text(each.get("external_reference")) if isinstance(each, dict) else "" for each in contexts]
        texts = [each.get("text") if isinstance(each, dict) else each for each in contexts]
        return _each_text([name or reference for name in own], texts)
    text = fields.get("text")
    texts = text if isinstance(text, list) else [text]
    return _each_text([reference] * len(texts), texts)


def _batch(fields: Fields) -> list[tuple[str, ...]] | str:
    name, body = next(((fields.get(name), fields.get(body)) for name, body in _BATCHES if name in fields), ("", None))
    content = body.get("content") if isinstance(body, dict) else None
    if isinstance(body, dict) and "input" in body:
        given = body["input"]
    elif isinstance(content, dict) and isinstance(content.get("parts"), list):
        given = "".join(cell_text(part.get("text")) for part in content["parts"] if isinstance(part, dict))
    else:
        return message("line_asks_something_else_than_vectors")
    texts = given if isinstance(given, list) else [given]
    return _each_text([cell_text(name)] * len(texts), texts)


def _each_text(names: list[str], texts: list[Any]) -> list[tuple[str, ...]] | str:
    if not texts:
        return message("request_no_text")
    if not all(isinstance(text, str) for text in texts):
        return message("request_something_else_than_texts_such")
    return [(name, cell_text(text)) for name, text in zip(names, texts, strict=True)]
