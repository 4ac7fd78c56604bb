"""Decode JSON values, and convert them to the texts of cells."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec


class Number(str):
    """A number with a fraction or an exponent, as it was written: 1.10 stays 1.10."""

    __slots__ = ()


_decoder = msgspec.json.Decoder(float_hook=Number)
_encoder = msgspec.json.Encoder(enc_hook=lambda number: msgspec.Raw(number.encode()))


def parse_object(line: str) -> dict[str, Any] | str:
    """Return the object in the line, or the sentence that says why there is none."""
    try:
        value = _decoder.decode(line)
    except ValueError:
        try:  # the strict decoder refuses lone surrogates and NaN, with which the text can still be used
            value = json.loads(line, parse_float=Number)
        except json.JSONDecodeError as exc:
            return f"This line is not valid JSON: {reason_of(exc)} at character {exc.colno:,}."
        except (ValueError, RecursionError):
            return "This line is not valid JSON: it is nested too deeply, or has a number of too many digits."
    except RecursionError:
        return "This line is not valid JSON: it is nested too deeply."
    if not isinstance(value, dict):
        return "This line is not a JSON object. Each line must be one, such as {“text”: “…”}."
    return value


def parse_array(line: str) -> list[Any] | None:
    """Return the array in the line, None when there is none."""
    try:
        value = json.loads(line, parse_float=Number)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def reason_of(exc: json.JSONDecodeError) -> str:
    """Return the decoder's message in the form that fits within a sentence."""
    return exc.msg[:1].lower() + exc.msg[1:].removesuffix(" at")


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
    except (UnicodeEncodeError, TypeError, ValueError):  # lone surrogates and NaN inside, as above
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
