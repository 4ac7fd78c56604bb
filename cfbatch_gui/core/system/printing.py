"""The one place that prints. A terminal obeys control codes, which names, texts and the service's words may hold."""

import re
from typing import TextIO

# Control characters but line ends and tabs, signs that turn the direction of what follows, and halves of characters.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    """With control codes as JSON writes them, so that an object for programs stays one."""
    return text if text.isprintable() else _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def put(stream: TextIO | None, text: str) -> None:
    """Python sets a stream to None that was closed before the start, and on Windows without a console."""
    if stream is not None:
        stream.write(escaped(text))
