"""What must be known before a file can be checked, for programs: the question, and the arguments that answer it."""

import argparse
from collections.abc import Iterator

from cfbatch_gui.cli.columns import ColumnsUnsettled, Inputs
from cfbatch_gui.core.errors import EncodingUnknown, UserError
from cfbatch_gui.core.inputs.files.encodings import CHOICES
from cfbatch_gui.core.inputs.input_values import Kind, Role

Answer = dict[str, object]


def open_question(error: UserError, arguments: argparse.Namespace) -> dict[str, object]:
    """The object to print: what is open, in a sentence and as "kind", "encoding" or "columns", null for what only
    another file can mend; and the answers, the likely one first. Of several columns that are missing each wants one.
    """
    about, answers = _answers(error, arguments)
    return {"question": about if answers else None, "sentence": error.message, "answers": answers}


def _answers(error: UserError, arguments: argparse.Namespace) -> tuple[str, list[Answer]]:
    if isinstance(error, EncodingUnknown):
        return "encoding", list(_encodings(error, arguments))
    if isinstance(error, ColumnsUnsettled):
        return "columns", list(_columns(error.inputs))
    if arguments.kind is None and not arguments.recipe:
        return "kind", [
            _answer("--rank", means="order contexts by query"),
            _answer("--embed", means="turn texts into vectors"),
        ]
    return "", []


def _encodings(error: EncodingUnknown, arguments: argparse.Namespace) -> Iterator[Answer]:
    is_of_second = arguments.second is not None and error.message.startswith(f"{arguments.second.name} ")
    if arguments.encoding is None and not is_of_second:
        for codec, title in sorted(CHOICES, key=lambda choice: choice[0] != error.guess):
            yield _answer("--encoding", codec, means=title)


def _columns(inputs: Inputs) -> Iterator[Answer]:
    mapping, second = inputs.mapping, inputs.second
    text = Role.TEXT if mapping.kind is Kind.EMBED else Role.CONTEXT
    if mapping.kind is Kind.RANK and Role.QUERY not in mapping.roles:
        yield from (_answer("--role", f"{column}={Role.QUERY}") for column in inputs.source.columns)
    if text not in (mapping.second_roles if second else mapping.roles) and not mapping.template:
        yield from (_answer("--role", f"{column}={text}") for column in (second or inputs.source).columns)


def _answer(*arguments: str, means: str = "") -> Answer:
    return {"arguments": list(arguments)} | ({"means": means} if means else {})
