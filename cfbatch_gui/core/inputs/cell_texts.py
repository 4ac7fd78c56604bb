"""Texts out of cells: a template of several columns, contexts listed in one cell, long texts cut into parts."""

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cfbatch_gui.core.inputs.column_names import index_of, listed
from cfbatch_gui.core.inputs.input_values import Context
from cfbatch_gui.core.inputs.readers.json_values import cell_text, reason_of
from cfbatch_gui.core.messages import message

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Template:
    pieces: tuple[str | int, ...]

    def render(self, cells: Sequence[str]) -> str:
        """The text for one row; "" if all its columns are blank, whatever text is between them."""
        values = [cells[piece] if isinstance(piece, int) else piece for piece in self.pieces]
        if not any(value.strip() for value, piece in zip(values, self.pieces, strict=True) if isinstance(piece, int)):
            return ""
        return "".join(values)

    @property
    def columns(self) -> frozenset[int]:
        return frozenset(piece for piece in self.pieces if isinstance(piece, int))


def read_template(text: str, columns: Sequence[str]) -> Template | str:
    """Read `{column}`, `{{` and `}}` for braces, `\\n` and `\\t`; or return the sentence that says what is wrong."""
    pieces: list[str | int] = []
    end = 0
    for found in _PIECE.finditer(text):
        pieces.append(_plain(text[end : found.start()]))
        end = found.end()
        if found[0] in ("{{", "}}"):
            pieces.append(found[0][0])
        elif found[1] is None:
            return message(
                "The template has a single “{sign}”. Write “{doubled}” for the sign itself.",
                sign=found[0],
                doubled=found[0] * 2,
            )
        else:
            index = index_of(found[1], columns)
            if index is None:
                return message(
                    "There is no column “{name}” for the template. The columns are {columns}.",
                    name=found[1],
                    columns=listed(columns),
                )
            pieces.append(index)
    pieces.append(_plain(text[end:]))
    template = Template(tuple(piece for piece in pieces if piece != ""))
    if not template.columns:
        return message("The template names no column. Write a column's name in braces, such as {title}.")
    return template


def _plain(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t")


_TEXT_KEYS = ("text", "context", "contents", "content", "passage", "body", "doc")
_ID_KEYS = ("id", "_id", "docid", "doc_id", "pid", "external_reference")
_LABEL_KEYS = ("label", "relevance", "score")


def is_list(cell: str) -> bool:
    """Whether a cell holds several contexts: a JSON array of them, or several lines."""
    if cell.lstrip().startswith("["):
        return isinstance(split_contexts(cell, 0), list)
    return "\n" in cell.strip()


def split_contexts(cell: str, row: int) -> list[Context] | str:
    """The contexts of a cell in order, empty ones included, or the sentence that says why not.

    A JSON array of texts or of objects with "text", else one a line.
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


_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]+")
_WORD = re.compile(r"\s+")
_LETTERS_A_TOKEN = 3  # of ASCII, in the estimate that counts most tokens


def split_text(text: str, most: int, overlap: int, count: Callable[[str], int]) -> tuple[tuple[int, int], ...]:
    """The (start, stop) of the parts in characters.

    None has more than `most` tokens by `count`; each begins about `overlap` tokens before the last one's end.
    """
    if count(text) <= most:
        return ((0, len(text)),)
    overlap = max(0, min(overlap, most // 2))
    parts: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        stop = _longest(text, start, most, count)
        if stop < len(text):
            stop = _good_end(text, start, stop)
        if text[start:stop].strip():
            parts.append((start, stop))
        if stop >= len(text):
            break
        start = max(_begin_again(text, start, stop, overlap, count), start + 1)
    return tuple(parts) or ((0, len(text)),)


def _longest(text: str, start: int, most: int, count: Callable[[str], int]) -> int:
    high = min(len(text), start + most * _LETTERS_A_TOKEN)
    if count(text[start:high]) <= most:
        return high
    low = start + 1
    while low + 1 < high:
        middle = (low + high) // 2
        if count(text[start:middle]) <= most:
            low = middle
        else:
            high = middle
    return low


def _good_end(text: str, start: int, stop: int) -> int:
    middle = (start + stop) // 2
    for pattern in (_PARAGRAPH, _SENTENCE, _WORD):
        ends = [found.end() for found in pattern.finditer(text, middle, stop)]
        if ends:
            return ends[-1]
    # Split within a word, but not within a character with its combining marks.
    for earlier in range(stop, max(start + 1, stop - 16), -1):
        if not unicodedata.combining(text[earlier]) and text[earlier] not in "\u200d\ufe0f":
            return earlier
    return stop


def _begin_again(text: str, start: int, stop: int, overlap: int, count: Callable[[str], int]) -> int:
    if not overlap:
        return stop
    begin = max(start + 1, stop - overlap * _LETTERS_A_TOKEN)
    around = count("")  # tokens that each part has besides those of its text
    while begin < stop and count(text[begin:stop]) - around > overlap:
        begin += max(1, (stop - begin) // 4)
    word = _WORD.search(text, begin, stop)
    return word.end() if word and word.end() < stop else begin
