"""Several columns joined to one text: `{title}. {body}`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cfbatch_gui.core.inputs.column_names import index_of, listed
from cfbatch_gui.core.messages import message

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Template:
    """Literal texts, and indices of columns between them."""

    pieces: tuple[str | int, ...]

    def render(self, cells: Sequence[str]) -> str:
        """Return the text for one row; "" if all its columns are blank, whatever text is between them."""
        values = [cells[piece] if isinstance(piece, int) else piece for piece in self.pieces]
        if not any(value.strip() for value, piece in zip(values, self.pieces, strict=True) if isinstance(piece, int)):
            return ""
        return "".join(values)

    @property
    def columns(self) -> frozenset[int]:
        """The indices of the columns it uses."""
        return frozenset(piece for piece in self.pieces if isinstance(piece, int))


def read_template(text: str, columns: Sequence[str]) -> Template | str:
    """Read `{column}` with `{{` and `}}` for braces; or return the sentence that says what is wrong.

    A column is found by its exact name, otherwise ignoring case. `\\n` and `\\t` are a line break and a tab.
    """
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
