"""Decode JSON values, convert them to the texts of cells, and find what is lost by that."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import msgspec

from cfbatch_gui.core.messages import cut_list, message, quoted


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
    except ValueError:
        try:  # the strict decoder refuses lone surrogates and NaN, without which the rest can still be used
            value = lenient_decoder.decode(line)
        except json.JSONDecodeError as exc:
            return message(
                "This line is not valid JSON: {reason}, at character {position:,}.",
                reason=reason_of(exc),
                position=exc.pos + 1,
            )
        except (ValueError, RecursionError):
            return message("This line is not valid JSON: it is nested too deeply, or has a number of too many digits.")
    except RecursionError:
        return message("This line is not valid JSON: it is nested too deeply.")
    if not isinstance(value, dict):
        return message("This line is not a JSON object. Each line must be one, such as {“text”: “…”}.")
    return value


def parse_array(line: str) -> list[Any] | None:
    try:
        value = lenient_decoder.decode(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def reason_of(exc: json.JSONDecodeError) -> str:
    known = (reason for begin, reason in _REASONS.items() if exc.msg.startswith(begin))
    return next(known, exc.msg[:1].lower() + exc.msg[1:])


# The beginnings of the decoder's messages, and what they mean.
_REASONS = {
    "Expecting property name": message("a key in double quotation marks is missing"),
    "Expecting ':'": message("a colon is missing"),
    "Expecting ','": message("a comma or a closing bracket is missing"),
    "Expecting value": message("a value is missing"),
    "Illegal trailing comma": message("a comma stands before a closing bracket"),
    "Extra data": message("something follows after the end"),
    "Unterminated string": message("a text has no closing quotation mark"),
    "Invalid control character": message("a text has a line break, a tab or the like without a backslash"),
    "Invalid \\escape": message("a backslash has no meaning"),
    "Invalid \\uXXXX": message("four digits are missing after “\\u”"),
}


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
