"""The forms in which a service may repeat a secret, as text of an answer; for the tests of its removal."""

import base64
import html
import json
import string
from collections.abc import Callable
from typing import Final

from tests.canary_search import Search

Form = Callable[[str], str]


def _percent(text: str) -> str:
    return "".join(f"%{ord(each):02x}" for each in text)


def _mixed(text: str) -> str:
    """Every character in another way, in turn."""
    ways: tuple[Form, ...] = (str, _percent, lambda each: f"&#{ord(each)};", lambda each: f"\\u{ord(each):04x}")
    return "".join(ways[index % len(ways)](each) for index, each in enumerate(text))


def _base64(before: str, after: str = "", *, url_safe: bool = False) -> Form:
    encode = base64.urlsafe_b64encode if url_safe else base64.b64encode
    return lambda secret: encode(f"{before}{secret}{after}".encode()).decode()


# Each makes text that is then put into an answer, as a JSON string or as it is.
FORMS: Final[dict[str, Form]] = {
    "as it is": str,
    "Bearer": lambda secret: f"Bearer {secret}",
    "in a sentence": lambda secret: f"The token “{secret}” is not valid.",
    "between letters": lambda secret: f"xx{secret}yy",
    "upper case": str.upper,
    "lower case": str.lower,
    "reversed": lambda secret: secret[::-1],
    "percent, wholly": _percent,
    "percent, upper case": lambda secret: _percent(secret).upper().replace("%X", "%x"),
    "percent, in part": lambda secret: secret[:5] + _percent(secret[5:9]) + secret[9:],
    "percent, twice": lambda secret: _percent(secret).replace("%", "%25"),
    "JSON escapes in a JSON string": lambda secret: "".join(f"\\u{ord(each):04x}" for each in secret),
    "JSON in JSON": lambda secret: json.dumps({"authorization": json.dumps(f"Bearer {secret}")}),
    "entities": lambda secret: "".join(f"&#{ord(each)};" for each in secret),
    "entities, hexadecimal": lambda secret: "".join(f"&#x{ord(each):X};" for each in secret),
    "entities of entities": lambda secret: html.escape("".join(f"&#{ord(each)};" for each in secret)),
    "entities by name": lambda secret: secret.replace("_", "&lowbar;").replace("-", "&#45;"),
    "hexadecimal": lambda secret: secret.encode().hex(),
    "hexadecimal, upper case": lambda secret: secret.encode().hex().upper(),
    "hexadecimal escapes": lambda secret: "".join(f"\\x{ord(each):02x}" for each in secret),
    "base64": _base64(""),
    "base64 of the header": _base64("Bearer "),
    "base64 of user and token": _base64("user:"),
    "base64, third alignment": _base64("ab", "?>?"),
    "base64 for addresses": _base64("Bearer ", "?>?>", url_safe=True),
    "base64 in an address": lambda secret: _percent(_base64("Bearer ")(secret)),
    "base64 in lines": lambda secret: "\n".join(_base64("Bearer ")(secret)[at : at + 16] for at in range(0, 96, 16)),
    "UTF-16": lambda secret: secret.encode("utf-16-le").decode(),
    "UTF-16, the other way": lambda secret: secret.encode("utf-16-be").decode(),
    "UTF-32": lambda secret: secret.encode("utf-32-le").decode(),
    "mixed": _mixed,
}


def holds_secret(*data: bytes) -> bool:
    """Whether the tests' search for the canary finds it, after undoing what the search does not look into."""
    search = Search()
    for each in data:
        text = each.decode("utf-8", "replace")
        for _ in range(4):
            search.text(text, "answer")
            search.text(text.swapcase(), "answer")
            search.text(_folded(text), "answer")
            text = html.unescape(_unescaped(text))
    return bool(search.hits)


def _folded(text: str) -> str:
    """Without what may stand between the characters of a form."""
    return "".join(each for each in text if each not in "\0\r\n")


def _unescaped(text: str) -> str:
    """One level of percent and backslash escapes undone, slowly and simply."""
    result, at = [], 0
    while at < len(text):
        for mark, skip, digits in (("%", 1, 2), ("\\u", 2, 4), ("\\x", 2, 2)):
            number = text[at + skip : at + skip + digits]
            if text.startswith(mark, at) and len(number) == digits and set(number) <= set(string.hexdigits):
                result.append(chr(int(number, 16)))
                at += skip + digits
                break
        else:
            if text[at] == "\\" and text[at + 1 : at + 2] in ("\\", "/", '"'):
                at += 1
            result.append(text[at])
            at += 1
    return "".join(result)
