"""Decode JSON of an expected type; anything else is a `ReplyError`."""

from typing import Final, TypeVar

import msgspec

from cfbatch_gui.core.errors import ReplyError

Decoded = TypeVar("Decoded")

NULL: Final = msgspec.Raw(b"null")


def decode(decoder: msgspec.json.Decoder[Decoded], data: bytes | memoryview | msgspec.Raw, what: str) -> Decoded:
    """Decode `data`. `what` names it in the error's detail.

    Raises ReplyError for anything that is not well-formed JSON of the decoder's type, and also for JSON nested too
    deeply, for numbers beyond a double's range and for text that is not UTF-8.
    """
    try:
        return decoder.decode(data)
    except (ValueError, RecursionError) as error:  # msgspec's own errors and UnicodeDecodeError are ValueErrors
        raise ReplyError(
            "The service sent an answer that this program cannot read. It was put aside.",
            detail=f"{what}: {error}",
        ) from error


def is_null(raw: msgspec.Raw) -> bool:
    """Return whether a value is null, or is missing and has the default `NULL`."""
    return len(memoryview(raw)) == 4 and bytes(raw) == b"null"


def breach(reason: str, detail: str = "") -> ReplyError:
    """Return the error for an answer that contradicts itself or the request. `reason` completes the sentence."""
    return ReplyError(f"The answer to this batch cannot be trusted and was put aside: {reason}.", detail=detail)
