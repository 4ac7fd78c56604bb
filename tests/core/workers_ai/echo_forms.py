"""The spellings in which a service may repeat a secret, as text of an answer; for the tests of their removal."""

import base64
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from tests.canary_search import Search

Form = Callable[[str], str]


def _base64(before: str, after: str = "", *, url_safe: bool = False) -> Form:
    encode = base64.urlsafe_b64encode if url_safe else base64.b64encode
    return lambda secret: encode(f"{before}{secret}{after}".encode()).decode()


# Each makes text that is then put into an answer, as a JSON string or as it is.
FORMS: Final[dict[str, Form]] = {
    "as it is": str,
    "Bearer": lambda secret: f"Bearer {secret}",
    "between letters": lambda secret: f"xx{secret}yy",
    "percent": lambda secret: quote(f"Bearer {secret}", safe=""),
    "hexadecimal": lambda secret: secret.encode().hex(),
    "hexadecimal, upper case": lambda secret: secret.encode().hex().upper(),
    "base64": _base64(""),
    "base64 of the header": _base64("Bearer "),
    "base64, third alignment": _base64("ab", "?>?"),
    "base64 for addresses": _base64("Bearer ", "?>?>", url_safe=True),
}


def holds_secret(*data: bytes) -> bool:
    """Whether the tests' search for the canary finds it."""
    search = Search()
    for each in data:
        search.text(each.decode("utf-8", "replace"), "answer")
    return bool(search.hits)
