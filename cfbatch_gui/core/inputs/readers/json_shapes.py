"""Decode JSON and convert its objects to rows.

By their keys, by the known forms of other programs, and the forms of pandas' to_json. A value becomes the text of a
cell, and what is lost by that is found.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count, islice
from typing import Any

import msgspec

from cfbatch_gui.core.inputs import column_names as vocabulary
from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.input_values import Shape, Source
from cfbatch_gui.core.messages import Message, cut_list, enumerated, message, quoted


class Number(str):
    """A number with a fraction or an exponent, as it was written: 1.10 stays 1.10."""

    __slots__ = ()


def _constant(name: str) -> Number | None:
    """NaN, as Python's programs write it for what is missing, is null; Infinity stays as it is written."""
    return None if name == "NaN" else Number(name)


lenient_decoder = json.JSONDecoder(parse_float=Number, parse_constant=_constant)
_decoder = msgspec.json.Decoder(float_hook=Number)
_encoder = msgspec.json.Encoder(enc_hook=lambda number: msgspec.Raw(number.encode()))


def parse_object(line: str) -> dict[str, Any] | str:
    """The object in the line, or the sentence that says why there is none."""
    try:
        value = _decoder.decode(line)
    except (ValueError, RecursionError):
        try:  # the strict decoder refuses lone surrogates and NaN, without which the rest can still be used
            value = lenient_decoder.decode(line)
        except (ValueError, RecursionError) as exc:
            return message("This line is not valid JSON: {cause}.", cause=cause_of(exc))
    if not isinstance(value, dict):
        return message("This line is not a JSON object. Each line must be one, such as {“text”: “…”}.")
    return value


def parse_array(line: str) -> list[Any] | None:
    try:
        value = lenient_decoder.decode(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def cause_of(exc: ValueError | RecursionError) -> Message:
    """What is wrong with a JSON text, in the form that fits within a sentence."""
    if isinstance(exc, json.JSONDecodeError):
        return message("character {position:,} is wrong", position=exc.pos + 1)
    return message("it is nested too deeply, or has a number of too many digits")


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


def columns_of(objects: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Every key of the objects, in order of appearance, that can be a column's name."""
    keys = dict.fromkeys(key for fields in objects for key in fields)
    return tuple(key for key in keys if key.strip() and harmless(key) == key)


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
    return (message("Objects repeat keys ({names}); the last value of each is read.", names=names),) if found else ()


Fields = dict[str, Any]
_RANK_COLUMNS = ("external_reference", "query", "contexts")
_EMBED_COLUMNS = ("external_reference", "text")
_OPENAI_COLUMNS = ("custom_id", "text")
_RANK_LLM_COLUMNS = ("qid", "query", "candidates")
_REQUEST_KEYS = frozenset({"query", "contexts", "text", "truncate_inputs", "external_reference", "pooling"})
_TEXT_KEYS = ("text", "contents", "content", "segment", "passage", "body", "abstract")
_AROUND = {
    "attributes": frozenset({"attributes", "id", "type", "relationships", "links", "meta"}),  # JSON:API
    "node": frozenset({"node", "cursor", "__typename"}),  # GraphQL
    "row": frozenset({"row", "row_idx", "truncated_cells"}),  # Hugging Face's data set viewer
}


def is_frame(value: object) -> bool:
    """Whether an object holds a table: objects with equal keys, or lists of equal length."""
    if not isinstance(value, dict) or not value:
        return False
    first = next(iter(value.values()))
    if isinstance(first, list):
        return len(value) > 1 and all(isinstance(each, list) and len(each) == len(first) > 0 for each in value.values())
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


def with_index(index: Sequence[object], columns: Sequence[object], rows: Iterator[list[Any]]) -> Iterator[object]:
    """Yield rows as objects; one of another width stays a list."""
    names = complete_names([cell_text(name) for name in columns], len(columns))
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
    match shape:
        case Shape.REQUESTS:
            ranks = sum("query" in fields for fields in objects)
            columns = _RANK_COLUMNS if ranks * 2 >= len(objects) else _EMBED_COLUMNS
            return columns if any("external_reference" in str(fields) for fields in objects) else columns[1:]
        case Shape.OPENAI:
            return _OPENAI_COLUMNS
        case Shape.RANK_LLM:
            return _RANK_LLM_COLUMNS
        case Shape.RECORDS:
            return columns_of([_record_in(fields) for fields in objects])
        case Shape.PLAIN | Shape.ARRAYS:
            return columns_of(objects)


def notice_for(shape: Shape, objects: Sequence[Fields]) -> str:
    if shape is Shape.REQUESTS:
        settings = [key for key in ("truncate_inputs", "pooling") if any(key in fields for fields in objects)]
        if settings:
            return message(
                "The requests say {names}; here that is an option of the job.",
                names=enumerated([quoted(key) for key in settings]),
            )
    if shape is Shape.OPENAI:
        return message("Only the texts and their custom_id are taken over; the model is an option of the job.")
    return ""


def rows_of(source: Source, fields: Fields) -> list[tuple[str, ...]] | str:
    """The rows of an object, each a tuple of cells, or the sentence that says why it has none."""
    match source.shape:
        case Shape.PLAIN | Shape.ARRAYS:
            return [tuple([cell_text(fields.get(column)) for column in source.columns])]
        case Shape.REQUESTS:
            rows = _ranking(fields) if "query" in source.columns else _embedding(fields)
            return rows if isinstance(rows, str) else [cells[-len(source.columns) :] for cells in rows]
        case Shape.OPENAI:
            return _openai(fields)
        case Shape.RANK_LLM:
            return _rank_llm(fields)
        case Shape.RECORDS:
            found = _record_in(fields)
            if not found:
                return message("This object holds no record, while others of the file do.")
            return [tuple([cell_text(found.get(column)) for column in source.columns])]


def _is_request(fields: Fields) -> bool:
    return fields.keys() <= _REQUEST_KEYS and not fields.keys().isdisjoint(("contexts", "text"))


def _is_surely_request(fields: Fields) -> bool:
    """Whether it has a list of contexts or of texts, or a reference; {"text": "one"} may be any row."""
    contexts = fields.get("contexts")
    has_contexts = isinstance(contexts, list) and bool(contexts) and all(isinstance(each, dict) for each in contexts)
    return _is_request(fields) and (
        has_contexts or isinstance(fields.get("text"), list) or {"external_reference", "text"} <= fields.keys()
    )


def _is_openai(fields: Fields) -> bool:
    return "custom_id" in fields and isinstance(fields.get("body"), dict)


def _is_rank_llm(fields: Fields) -> bool:
    return isinstance(fields.get("query"), dict) and isinstance(fields.get("candidates"), list)


def _within(fields: Fields) -> str:
    if isinstance(fields.get("_source"), dict) and not fields.keys().isdisjoint(("_id", "_index", "_score")):
        return "_source"
    return next(
        (key for key, around in _AROUND.items() if isinstance(fields.get(key), dict) and fields.keys() <= around), ""
    )


_TESTS = (
    (Shape.OPENAI, _is_openai),
    (Shape.RANK_LLM, _is_rank_llm),
    (Shape.RECORDS, lambda fields: bool(_within(fields))),
    (Shape.REQUESTS, _is_request),
)


def _record_in(fields: Fields) -> Fields:
    record = fields.get(_within(fields))
    if not isinstance(record, dict):
        return {}
    return {**{key: value for key, value in fields.items() if key in ("_id", "id")}, **record}


def _ranking(fields: Fields) -> list[tuple[str, ...]] | str:
    if "contexts" not in fields:
        return message("This request has no contexts, while others of the file rank theirs.")
    if "query" not in fields:
        return message(
            "This request has no query, while others of the file have one. Put such requests into a file of their own."
        )
    return [tuple([cell_text(fields.get(column)) for column in _RANK_COLUMNS])]


def _embedding(fields: Fields) -> list[tuple[str, ...]] | str:
    if "query" in fields:
        return message(
            "This request has a query, while others of the file have none. Put such requests into a file of their own."
        )
    reference = cell_text(fields.get("external_reference"))
    contexts = fields.get("contexts")
    if isinstance(contexts, list):
        own = [cell_text(each.get("external_reference")) if isinstance(each, dict) else "" for each in contexts]
        texts = [each.get("text") if isinstance(each, dict) else each for each in contexts]
        return _each_text([name or reference for name in own], texts)
    text = fields.get("text")
    texts = text if isinstance(text, list) else [text]
    return _each_text([reference] * len(texts), texts)


def _openai(fields: Fields) -> list[tuple[str, ...]] | str:
    body = fields.get("body")
    if not isinstance(body, dict) or "input" not in body:
        return message("This line asks for something else than vectors: its body has no “input”.")
    given = body["input"]
    texts = given if isinstance(given, list) else [given]
    return _each_text([cell_text(fields.get("custom_id"))] * len(texts), texts)


def _each_text(names: list[str], texts: list[Any]) -> list[tuple[str, ...]] | str:
    if not texts:
        return message("This request has no text.")
    if not all(isinstance(text, str) for text in texts):
        return message("This request has something else than texts, such as numbers of tokens. Only texts can be sent.")
    return [(name, cell_text(text)) for name, text in zip(names, texts, strict=True)]


def _rank_llm(fields: Fields) -> list[tuple[str, ...]] | str:
    query, candidates = fields.get("query"), fields.get("candidates")
    if not isinstance(query, dict) or not isinstance(candidates, list):
        return message("This line has no query with candidates.")
    contexts = [
        {"id": cell_text(each.get("docid")), "text": _document_text(each.get("doc"))}
        for each in candidates
        if isinstance(each, dict)
    ]
    return [(cell_text(query.get("qid")), cell_text(query.get("text")), cell_text(contexts))]


def _document_text(document: object) -> str:
    if not isinstance(document, dict):
        return cell_text(document)
    text = next((cell_text(document[key]) for key in _TEXT_KEYS if key in document), "")
    title = cell_text(document.get("title"))
    return f"{title} {text}".strip() if title else text
