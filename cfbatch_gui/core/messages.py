"""Sentences for people as codes with parameters, so that each face can word them in its user's language.

A `Message` is a `str`: its English text, which logs and `--json` show. The ledger and the jobs' folders keep the code.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from types import MappingProxyType
from typing import Any, SupportsFloat

from cfbatch_gui.core.resources import resource

_NONE: Mapping[str, object] = MappingProxyType({})
_STORED = '["'  # what a stored message begins with


class Message(str):
    """A sentence: its `code`, and its parameters: numbers, the user's texts, or messages.

    `template` and `many`, for other numbers than one, are its English, "" where there is no number; the number is the
    parameter `n`. Without a code it is a text as it stands. Any operation of `str` gives plain text.
    """

    __slots__ = ("code", "many", "parameters", "template")

    code: str
    template: str
    many: str
    parameters: Mapping[str, object]

    def __new__(cls, code: str, parameters: Mapping[str, object] = _NONE, text: str = "") -> "Message":
        template, many = sentences()[code] if code else (text, "")
        chosen = many if many and parameters["n"] != 1 else template
        made = super().__new__(cls, chosen.format_map(parameters) if parameters else chosen)
        made.code, made.template, made.many, made.parameters = code, template, many, parameters
        return made

    def __reduce_ex__(self, protocol: Any) -> tuple[type["Message"], tuple[str, Mapping[str, object], str]]:
        return Message, (self.code, dict(self.parameters), self.template)

    def filled(self, **parameters: object) -> "Message":
        return Message(self.code, parameters, self.template)


@cache
def sentences() -> dict[str, tuple[str, str]]:
    """The English of each code, and its form for other numbers than one, "" without."""
    found = {}
    for line in resource("sentences.txt").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        code, _, text = line.partition(" = ")
        one, _, many = text.replace(r"\n", "\n").partition(" || ")
        found[code] = one, many
    return found


def message(code: str, /, **parameters: object) -> Message:
    """A sentence of resources/sentences.txt; its number, where it has one, is `n`. Raises KeyError for another code."""
    return Message(code, parameters)


def literal(text: str) -> Message:
    """Text as it stands, to be translated if it is in the catalogue: names of the service's, lines of other files."""
    return text if isinstance(text, Message) else Message("", text=text)


def stored(sentence: str) -> str:
    """What the disk keeps of a sentence: its code and parameters as JSON; other text as it is."""
    if isinstance(sentence, Message) and sentence.code:
        return json.dumps([sentence.code, {name: _kept(each) for name, each in sentence.parameters.items()}])
    return str(sentence)


def _kept(value: object) -> object:
    if isinstance(value, str):
        return stored(value)
    if isinstance(value, bool | int | float):
        return value
    return float(value) if isinstance(value, SupportsFloat) else str(value)


def restored(text: str) -> str:
    """A sentence from what `stored` made of it; other text as it is, also that of a code which is not known here."""
    if not text.startswith(_STORED):
        return text
    try:
        code, parameters = json.loads(text)
        values = {name: restored(each) if isinstance(each, str) else each for name, each in parameters.items()}
        return message(code, **values)
    except (ValueError, KeyError, TypeError, AttributeError):
        return text


def enumerated(parts: Sequence[str]) -> str:
    """A list for people: "a, b and c"."""
    if len(parts) < 2:
        return comma_list(parts)
    return message("list_and_last", list=comma_list(parts[:-1]), last=parts[-1])


def cut_list(parts: Sequence[str], more: int) -> str:
    """The beginning of a list, and how many more there are: "a, b and 3 more"."""
    return message("list_and_n_more", list=comma_list(parts), n=more) if more > 0 else comma_list(parts)


def comma_list(parts: Sequence[str]) -> str:
    """A list with commas alone: "a, b, c"."""
    return reduce(lambda before, part: message("list_part", list=before, part=part), parts) if parts else ""


def quoted(name: str) -> Message:
    """A name in the language's quotation marks."""
    return message("quoted_name", name=name)
