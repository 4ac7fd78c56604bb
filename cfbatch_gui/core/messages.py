"""Sentences for people as a template with parameters, so that each face can word them in its user's language.

A `Message` is a `str`: its English text, which logs, manifests, `--json` and the ledger keep. The template is the code
under which translations know it, as in gettext; `core/system/languages.py` words it in another language.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_NONE: Mapping[str, object] = MappingProxyType({})


class Message(str):
    """English text that still has its template and its parameters.

    `many` is the template for other numbers than one, "" where the sentence has no number; the number is the parameter
    `n`. Parameters are numbers, texts of the user's own, or messages; format specifications stand in the template
    ("{n:,} rows"). Pickled and copied whole; any operation of `str` gives plain text, as does `str()` itself, which is
    for writers that take no subclasses (msgspec).
    """

    __slots__ = ("many", "parameters", "template")

    template: str
    many: str
    parameters: Mapping[str, object]

    def __new__(cls, template: str, many: str = "", parameters: Mapping[str, object] = _NONE) -> "Message":  # noqa: D102
        chosen = many if many and parameters["n"] != 1 else template
        made = super().__new__(cls, chosen.format_map(parameters) if parameters else chosen)
        made.template, made.many, made.parameters = template, many, parameters
        return made

    def __reduce_ex__(self, protocol: Any) -> tuple[type["Message"], tuple[str, str, Mapping[str, object]]]:
        return Message, (self.template, self.many, dict(self.parameters))

    def filled(self, **parameters: object) -> "Message":
        """The same template with these parameters, for templates that stand in a table."""
        return Message(self.template, self.many, parameters)


def message(template: str, /, **parameters: object) -> Message:
    """A sentence: message("“{name}” is empty.", name=path.name). Without parameters braces mean themselves."""
    return Message(template, "", parameters)


def counted_message(n: int, one: str, many: str, /, **parameters: object) -> Message:
    """A sentence with a number: counted_message(rows, "{n:,} row", "{n:,} rows"). Languages may have further forms."""
    return Message(one, many, {"n": n, **parameters})
