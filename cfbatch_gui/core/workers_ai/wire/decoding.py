"""Decode JSON of an expected type; anything else is a `ReplyError`."""

import re
from typing import Final, TypeVar

import msgspec

from cfbatch_gui.core.errors import ReplyError
from cfbatch_gui.core.messages import message

Decoded = TypeVar("Decoded")

NULL: Final = msgspec.Raw(b"null")

# A backslash that is escaped itself, a pair of surrogates, or one alone, as an escape or in bytes.
_SURROGATES: Final = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<escape>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|(?P<bytes>\xed[\xa0-\xbf][\x80-\xbf])"
)


def decode(decoder: msgspec.json.Decoder[Decoded], data: bytes | memoryview | msgspec.Raw, what: str) -> Decoded:
    """Decode `data`. `what` names it in the error's detail.

    Lone surrogates in texts, which JSON can write and UTF-8 cannot, become U+FFFD: they do not spoil the rest.
    Raises ReplyError for anything that is not well-formed JSON of the decoder's type, and also for JSON nested too
    deeply, for numbers beyond a double's range and for text that is not UTF-8.
    """
    try:
        try:
            return decoder.decode(data)
        except ValueError:
            whole = without_lone_surrogates(bytes(data))
            if whole is None:
                raise
            return decoder.decode(whole)
    except (ValueError, RecursionError) as error:  # msgspec's own errors and UnicodeDecodeError are ValueErrors
        raise ReplyError(
            message("The service sent an answer that this program cannot read. It was put aside."),
            detail=f"{what}: {error}",
        ) from error


def without_lone_surrogates(data: bytes) -> bytes | None:
    """The JSON with U+FFFD in place of each lone surrogate, None if there is none."""
    whole = _SURROGATES.sub(_replacement, data)
    return None if whole == data else whole


def _replacement(found: "re.Match[bytes]") -> bytes:
    match found.lastgroup:
        case "escape":
            return b"\\ufffd"
        case "bytes":
            return "\ufffd".encode()
    return found[0]


def is_null(raw: msgspec.Raw) -> bool:
    """Return whether a value is null, or is missing and has the default `NULL`."""
    return len(memoryview(raw)) == 4 and bytes(raw) == b"null"


def breach(reason: str, detail: str = "") -> ReplyError:
    """Return the error for an answer that contradicts itself or the request. `reason` completes the sentence."""
    return ReplyError(
        message("The answer to this batch cannot be trusted and was put aside: {reason}.", reason=reason), detail=detail
    )
