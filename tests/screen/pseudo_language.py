"""A language that nobody speaks: English in other letters, longer by two fifths and between brackets.

Whatever stands on the screen without brackets is not translatable, or is not translated; what is clipped or elided does
not end with one.
"""

import re
from dataclasses import dataclass

from cfbatch_gui.words.languages import Language

_KEPT = re.compile(r"(\{[^{}]*\}|%(?:\(\w+\))?[rs]|<[^<>]*>|&)")  # parameters, tags and the marks of keys
_LETTERS = str.maketrans("aeiouyAEIOUYcnszCNSZ", "áéíóúýÁÉÍÓÚÝçñšžÇÑŠŽ")
_LONGER = 0.4
BEGIN, END = "⟦", "⟧"


@dataclass(frozen=True)
class PseudoLanguage(Language):
    """Figures in it are those of German: 1.234,5."""

    code: str = "pseudo"
    name: str = "Pseudo"
    decimal: str = ","
    thousands: str = "."

    def translated(self, source: str, context: str = "") -> str:
        """Longer, in other letters, between brackets."""
        if not source.strip():
            return source
        parts = _KEPT.split(source)
        letters = "".join(part if _KEPT.fullmatch(part) else part.translate(_LETTERS) for part in parts)
        return f"{BEGIN}{letters}{'·' * round(len(_KEPT.sub('', source)) * _LONGER)}{END}"

    def translated_plural(self, one: str, many: str, count: int) -> str:
        """The English form, made longer."""
        return self.translated(one if count == 1 else many)
