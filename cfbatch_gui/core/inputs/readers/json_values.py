"""Decode JSON values, and convert them to the texts of cells."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from cfbatch_gui.core.messages import message


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
    """Return the object in the line, or the sentence that says why there is none."""
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
    """Return the array in the line, None when there is none."""
    try:
        value = lenient_decoder.decode(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def reason_of(exc: json.JSONDecodeError) -> str:
    """Return what is wrong, in the form that fits within a sentence."""
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
    """Write a JSON value as the text of a cell."""
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
    """Return every key of the objects, in order of appearance; a key that cannot be a column's name is left out."""
    keys = dict.fromkeys(key for fields in objects for key in fields)
    return tuple(key for key in keys if key.strip() and harmless(key) == key)
