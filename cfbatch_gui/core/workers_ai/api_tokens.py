"""API tokens and other secrets: checks of their form, and a type that is not printed, logged or pickled by accident."""

import hmac
import re
from typing import NoReturn

from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.messages import message

MIN_LENGTH = 20
MAX_LENGTH = 1_000  # Windows keeps 1,280 characters

_QUOTES = "\"'`“”‘’"
_LEAD = re.compile(r"^(?:authorization:\s*)?bearer(?:\s+|$)", re.IGNORECASE)


class Token:
    """A secret whose repr does not show it and which cannot be pickled. Comparison takes constant time."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The secret itself, for use in a header."""
        return self._text

    def __repr__(self) -> str:
        return "Token(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Token) and hmac.compare_digest(self._text, other._text)

    def __hash__(self) -> int:
        return hash((Token, self._text))

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a token is not stored")


def check_form(text: str) -> Token:
    """The API token in a pasted text: spaces, quotation marks and "Authorization: Bearer" are removed.

    Raises NotConnected, whose message never holds the text, when the rest cannot be an API token.
    """
    cleaned = text.strip(" \t\r\n\ufeff\u200b\u00a0")
    cleaned = _LEAD.sub("", cleaned.strip(_QUOTES)).strip(_QUOTES + " ")
    if not cleaned:
        raise NotConnected(
            message("There is no API token yet. Create one in the Cloudflare dashboard and paste it here.")
        )
    if not re.fullmatch(r"[!-~]+", cleaned):
        raise NotConnected(
            message(
                "This is not an API token: it holds a space, a line break or a letter no token has. Copy it once more."
            )
        )
    if cleaned.startswith("cfk_") or re.fullmatch(r"[0-9a-f]{37}", cleaned):
        raise NotConnected(
            message(
                "This is a global API key, which may do everything in your account. Create an API token with the "
                "permissions Workers AI Read and Workers AI Edit instead."
            )
        )
    if cleaned.startswith("v1.0-"):
        raise NotConnected(
            message("This is an Origin CA key. Create an API token in the Cloudflare dashboard instead.")
        )
    if not MIN_LENGTH <= len(cleaned) <= MAX_LENGTH:
        raise NotConnected(
            message("This is too short for an API token. Copy the whole token, and nothing else.")
            if len(cleaned) < MIN_LENGTH
            else message("This is too long for an API token. Copy the whole token, and nothing else.")
        )
    return Token(cleaned)


def check_secret(text: str) -> Token:
    """The user's own secret for a Worker or a gateway, from a pasted text. Raises NotConnected."""
    cleaned = text.strip(" \t\r\n\ufeff\u200b\u00a0")
    cleaned = _LEAD.sub("", cleaned.strip(_QUOTES)).strip(_QUOTES + " ")
    if not cleaned:
        raise NotConnected(message("There is no secret yet. Paste the one that the Worker was given."))
    if not re.fullmatch(r"[!-~]+", cleaned) or len(cleaned) > MAX_LENGTH:
        raise NotConnected(
            message(
                "This cannot be sent as a secret. It may have up to {most:,} letters, digits and signs, no spaces.",
                most=MAX_LENGTH,
            )
        )
    return Token(cleaned)
