r"""Find what is lost when JSON is read: values under a key that an object repeats, and escapes that are no characters.

Every reader keeps the last of a key's values. JSON can escape half a character (\ud800 without its other half) and
NUL (\u0000), which no text can have.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import Any

from cfbatch_gui.core.inputs.readers.json_values import harmless
from cfbatch_gui.core.messages import comma_list, message, quoted

_START = re.compile(r"[\[{]")
_HIGH, _LOW = r"[dD][89abAB][0-9a-fA-F]{2}", r"[dD][c-fC-F][0-9a-fA-F]{2}"
# Files in ASCII have many escapes, so those that are something are not even found.
_LOST = re.compile(rf"\\u(?:0000|{_HIGH}(?!\\u{_LOW})|{_LOW}(?<!\\u{_HIGH}\\u{_LOW}))")


def notice_of_repeated_keys(parts: Iterable[str]) -> tuple[str, ...]:
    """Return the notice about keys that an object repeats. The parts are JSON, or lines of it, and may end anywhere."""
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
    names = comma_list([quoted(harmless(key)) for key in islice(found, 3)])
    if len(found) > 3:
        return (message("Objects repeat keys ({names} and more); the last value of each is read.", names=names),)
    if len(found) > 1:
        return (message("Objects repeat keys ({names}); the last value of each is read.", names=names),)
    return (message("Objects repeat the key {names}; the last of its values is read.", names=names),) if found else ()


class LostCharacters:
    """Counts, in the text of a JSON file that comes in pieces, the escapes of half a character and of NUL."""

    def __init__(self) -> None:
        self.halves = self.nuls = 0
        self._rest: list[str] = []

    def add(self, piece: str) -> None:
        """Count in the next piece; what may go on in the one after it waits."""
        # No escape goes on over a quotation mark, and the backslashes before the mark are counted with it.
        end = piece.rfind('"') + 1
        if end:
            self._count("".join((*self._rest, piece[:end])))
            self._rest.clear()
        self._rest.append(piece[end:])

    def _count(self, text: str) -> None:
        for found in _LOST.finditer(text):
            at = found.start()
            while at and text[at - 1] == "\\":
                at -= 1
            if (found.start() - at) % 2:
                continue  # an escaped backslash, and then letters
            if found[0] == "\\u0000":
                self.nuls += 1
            else:
                self.halves += 1
