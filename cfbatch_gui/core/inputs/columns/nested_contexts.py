"""Split a cell with several contexts: a JSON array, or one context on each line."""

import json
from typing import Any

from cfbatch_gui.core.inputs.input_values import Context
from cfbatch_gui.core.inputs.readers.json_values import cell_text, reason_of
from cfbatch_gui.core.messages import message

_TEXT_KEYS = ("text", "context", "contents", "content", "passage", "body", "doc")
_ID_KEYS = ("id", "_id", "docid", "doc_id", "pid", "external_reference")
_LABEL_KEYS = ("label", "relevance", "score")


def is_list(cell: str) -> bool:
    """Return whether a cell holds several contexts: a JSON array of them, or several lines."""
    if cell.lstrip().startswith("["):
        return isinstance(split_contexts(cell, 0), list)
    return "\n" in cell.strip()


def split_contexts(cell: str, row: int) -> list[Context] | str:
    """Return the contexts of a cell in their order, empty ones included, or the sentence that says why not.

    A cell that begins with "[" is a JSON array of texts or of objects with "text" and perhaps an id and a label;
    any other cell has one context a line, and its blank lines are not contexts.
    """
    if not cell.lstrip().startswith("["):
        return [Context(row, line.rstrip("\r")) for line in cell.split("\n") if line.strip()]
    try:
        values = json.loads(cell, parse_float=str)
    except json.JSONDecodeError as exc:
        return message(
            "The list of contexts is not valid JSON: {reason}, at character {position:,}.",
            reason=reason_of(exc),
            position=exc.pos + 1,
        )
    except (ValueError, RecursionError):
        return message(
            "The list of contexts is not valid JSON: it is nested too deeply, or has a number of too many digits."
        )
    contexts = [_context(value, row) for value in values]
    for position, context in enumerate(contexts, 1):
        if context is None:
            return message(
                "Item {position:,} of the list of contexts is neither a text nor an object with “text”.",
                position=position,
            )
    return [context for context in contexts if context is not None]


def _context(value: object, row: int) -> Context | None:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return Context(row, cell_text(value))
    if not isinstance(value, dict):
        return None
    text = _first(value, _TEXT_KEYS)
    if text is None:
        return None
    return Context(row, text, _first(value, _ID_KEYS) or "", _first(value, _LABEL_KEYS) or "")


def _first(fields: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((cell_text(fields[key]) for key in keys if key in fields), None)
