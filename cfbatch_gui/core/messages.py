"""Sentences for people as a template with parameters, so that each face can word them in its user's language.

A `Message` is a `str`: its English text, which logs, `--json` and the ledger keep.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from types import MappingProxyType
from typing import Any

_NONE: Mapping[str, object] = MappingProxyType({})


class Message(str):
    """English text that still has its template and its parameters: numbers, the user's texts, or messages.

    `many` is the template for other numbers than one, "" where there is no number; the number is the parameter `n`.
    Any operation of `str` gives plain text, as does `str()`, for writers that take no subclasses (msgspec).
    """

    __slots__ = ("many", "parameters", "template")

    template: str
    many: str
    parameters: Mapping[str, object]

    def __new__(cls, template: str, many: str = "", parameters: Mapping[str, object] = _NONE) -> "Message":
        chosen = many if many and parameters["n"] != 1 else template
        made = super().__new__(cls, chosen.format_map(parameters) if parameters else chosen)
        made.template, made.many, made.parameters = template, many, parameters
        return made

    def __reduce_ex__(self, protocol: Any) -> tuple[type["Message"], tuple[str, str, Mapping[str, object]]]:
        return Message, (self.template, self.many, dict(self.parameters))

    def filled(self, **parameters: object) -> "Message":
        return Message(self.template, self.many, parameters)


def message(template: str, /, **parameters: object) -> Message:
    """A sentence: message("“{name}” is empty.", name=path.name). Without parameters braces mean themselves."""
    return Message(template, "", parameters)


def counted_message(n: int, one: str, many: str, /, **parameters: object) -> Message:
    """A sentence with a number: counted_message(rows, "{n:,} row", "{n:,} rows")."""
    return Message(one, many, {"n": n, **parameters})


def enumerated(parts: Sequence[str]) -> str:
    """A list for people: "a, b and c"."""
    if len(parts) < 2:
        return comma_list(parts)
    return message("{list} and {last}", list=comma_list(parts[:-1]), last=parts[-1])


def cut_list(parts: Sequence[str], more: int) -> str:
    """The beginning of a list, and how many more there are: "a, b and 3 more"."""
    return message("{list} and {n:,} more", list=comma_list(parts), n=more) if more > 0 else comma_list(parts)


def comma_list(parts: Sequence[str]) -> str:
    """A list with commas alone: "a, b, c"."""
    return reduce(lambda before, part: message("{list}, {part}", list=before, part=part), parts) if parts else ""


def stored_message(sentence: str) -> Message:
    """A sentence that was kept as its English text, to be a parameter of another one."""
    return sentence if isinstance(sentence, Message) else Message(sentence)


def quoted(name: str) -> Message:
    """A name in the language's quotation marks."""
    return message("“{name}”", name=name)
