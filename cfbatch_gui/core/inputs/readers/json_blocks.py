"""Decode many JSON objects at a time, and make rows of them, for files in which nearly all objects are sound.

What these functions refuse is decoded one value at a time by the readers, which know more forms, such as lone
surrogates and NaN, and say what is wrong and where. What they accept gives the same values there.
"""

from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import msgspec

from cfbatch_gui.core.inputs.readers.json_values import Number, cell_text

Fields = dict[str, Any]
_lines_decoder = msgspec.json.Decoder(Fields, float_hook=Number)
_array_decoder = msgspec.json.Decoder(list[Fields], float_hook=Number)


def objects_of_lines(text: str) -> list[Fields] | None:
    r"""Return the objects of a text in which every line is one, all lines ending with \n or all with \r\n, or None."""
    try:
        objects = _lines_decoder.decode_lines(text)
    except (ValueError, RecursionError):
        return None
    # To the decoder a line end is white space like any other. But “}” and “{” can only meet between two objects: where
    # each of these places is a line end, and there are no other line ends, each line is one object.
    end = "\r\n" if "\r" in text else "\n"
    between = text.count(f"}}{end}{{")
    ends = between + text.endswith(end)
    is_one_a_line = between == len(objects) - 1 and all(text.count(sign) == ends for sign in end)
    return objects if is_one_a_line else None


def objects_of_array(elements: str) -> list[Fields] | None:
    """Return the objects of a text that has one or more of them with commas between; otherwise None."""
    try:
        return _array_decoder.decode(f"[{elements}]")
    except (ValueError, RecursionError):
        return None


def rows_of_objects(objects: Sequence[Fields], columns: Sequence[str], text: str) -> Sequence[tuple[str, ...]]:
    """Return the cells of each object by the keys that are columns; `text` is what the objects were decoded from."""
    try:
        values = (
            list(map(itemgetter(*columns), objects)) if len(columns) > 1 else [(each[columns[0]],) for each in objects]
        )
    except KeyError:
        values = [tuple([fields.get(column) for column in columns]) for fields in objects]
    has_nul = "\\" in text and "\\u0000" in text  # no other text that can be decoded here needs to be changed
    if not has_nul and set(map(type, chain.from_iterable(values))) == {str}:
        return values
    return list(zip(*map(_cells, zip(*values, strict=True)), strict=True))


def _cells(values: Sequence[object]) -> Sequence[str]:
    return list(map(cell_text, values))
