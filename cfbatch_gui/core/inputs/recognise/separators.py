"""Separators of other tables than those with commas, semicolons, tabs or bars: another sign, or several in a row."""

import re
from collections import Counter
from collections.abc import Sequence

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs import column_names as vocabulary
from cfbatch_gui.core.messages import message

SEPARATORS = (",", ";", "\t", "|")
SPACE = " "  # R's write.table separates by it; cells with text are quoted
_NAMES = {"space": SPACE, "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "bar": "|", r"\t": "\t"}
_LONGEST = 8  # characters
_LEAST_LINES = 3
_LINES = 200
# What stands between names: signs with the spaces around them, or several spaces. Some programs take a letter.
_BETWEEN = re.compile(r""" *[^\w"' \r\n](?:[^\w"'\r\n]*[^\w"' \r\n])? *| {2,}|þ""")
_SELDOM_IN_TEXTS = "^~§¦¶‡¬│þ،؛，；、"


def wanted_separator(wanted: str | None) -> str:
    """The separator that the user names, "" for none. Raises UsageError for what cannot be one."""
    if not wanted:
        return ""
    separator = _NAMES.get(wanted, wanted)
    if len(separator) > _LONGEST or any(sign.isalnum() and sign != "þ" for sign in separator) or '"' in separator:
        raise UsageError(
            message("“{wanted}” cannot be the separator. Choose one sign, such as , ; | or tab, or two.", wanted=wanted)
        )
    return separator


def separator_between_names(lines: Sequence[str]) -> str:
    """What stands between known names in the first line, as often in the others and in none less often; "" for none."""
    if len(lines) < _LEAST_LINES:
        return ""
    found: Counter[str] = Counter(_BETWEEN.findall(lines[0]))
    for separator, _ in found.most_common():
        names = lines[0].split(separator)
        known = sum(map(vocabulary.is_known, names))
        counts = Counter(line.count(separator) for line in lines[1:])
        # In a table of which two columns have known names, some texts may hold the sign themselves.
        are_even = set(counts) == {len(names) - 1} or (known > 1 and min(counts) == len(names) - 1)
        if known and all(map(str.strip, names)) and len(separator) <= _LONGEST and are_even:
            return separator
    return ""


def is_of_several(separator: str) -> bool:
    """Whether it is made of separators, which by themselves would part empty cells."""
    return len(separator) > 1 and set(separator) <= set(SEPARATORS)


def likely_separator(lines: Sequence[str]) -> str:
    """A sign that texts seldom hold, and that every line of a list has equally often; "" for none."""
    signs = {sign for line in lines[:1] for sign in line if sign in _SELDOM_IN_TEXTS or is_control(sign)}
    for sign in sorted(signs) if len(lines) >= _LEAST_LINES else ():
        if len({line.count(sign) for line in lines}) == 1:
            return sign
    return ""


def is_control(sign: str) -> bool:
    """Whether it is a character that no text holds, so that a list with it in every line is surely a table."""
    return sign < " " and sign not in "\t\r\n\f\v\x1b"


def first_lines(sample: str, *, is_whole: bool) -> list[str]:
    """The first lines that are not blank, without their ends and without one that the end of the sample cuts off."""
    lines = [line.strip("\r\n") for line in re.split(r"\r\n|\n|\r", sample)]
    whole = lines if is_whole else lines[:-1]
    return [line for line in whole if line.strip(" \t")][:_LINES]
