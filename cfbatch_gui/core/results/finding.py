"""Looks for a text in a million texts, without regard to case in any script.

SQLite's own LIKE knows case in ASCII only, and takes a fifth of the time of a function of Python's. So it looks first,
and Python is asked about the few texts that LIKE cannot judge: "Straße" has "STRASSE" in it. It need not have "STRAS":
a sign that is several without case counts where they are all looked for. Letters that have case and are not ASCII, and
what several such signs may stand for, are looked for in blocks of texts.
"""

import sqlite3
from functools import cache
from itertools import chain

from cfbatch_gui.core.results.finding_blocks import BlockFinding

_ESCAPE = "\\"
_LONGEST_PATTERN = 4_000  # characters; SQLite refuses patterns of 50,000 bytes
_MOST_SIGNS = 6  # more questions to SQLite than that cost as much as one to Python


def have_nul(database: sqlite3.Connection, rows: str, values: dict[str, int]) -> bool:
    """Whether any `text` of these rows (of SQL: a table and a condition) has a NUL in it, beyond which LIKE does not
    look.
    """
    statement = f"SELECT EXISTS(SELECT 1 FROM {rows} AND instr(text, char(0)))"  # noqa: S608 - constants of text_search
    (found,) = database.execute(statement, values).fetchone()
    return bool(found)


class Finding:
    """One text that is looked for; "" is in every text. `with_nul`: in texts of which some have a NUL.

    `blocks` is there where it is found more quickly that way.
    """

    def __init__(self, text: str, *, with_nul: bool = True) -> None:
        self.needle = text.casefold()
        self._is_judged = all(sign.isascii() or _has_no_case(sign) for sign in self.needle)
        self._signs = [sign for sign, folded in folded_otherwise().items() if folded in self.needle]
        if with_nul:
            self._signs.append("\0")
        is_short = len(self.needle) <= _LONGEST_PATTERN and len(self._signs) <= _MOST_SIGNS
        self._is_simple = is_short and "\0" not in self.needle
        is_hard = not self._is_judged or len(self._signs) > 1
        self.blocks = BlockFinding(self.needle) if is_hard and BlockFinding.is_possible(self.needle) else None

    def condition(self, column: str) -> str:
        """True in SQL for a text that has it; on a connection that is `prepare`d, with `values`."""
        if not self._is_simple:
            return f"found({column})"
        like = f"{column} LIKE :pattern ESCAPE '{_ESCAPE}'"
        if not self._is_judged:
            like = f"({like} AND found({column}))"
        if not self._signs:
            return like
        signs = " OR ".join(f"instr({column}, :sign{place})" for place in range(len(self._signs)))
        return f"({like} OR (({signs}) AND found({column})))"

    def prepare(self, database: sqlite3.Connection) -> None:
        """Teach a connection to ask Python."""
        needle = self.needle
        database.create_function("found", 1, lambda text: needle in text.casefold(), deterministic=True)

    @property
    def values(self) -> dict[str, str]:
        """What goes with the statement."""
        if not self._is_simple:
            return {}
        pattern = "".join(_in_pattern(sign) for sign in self.needle)
        return {"pattern": f"%{pattern}%", **{f"sign{place}": sign for place, sign in enumerate(self._signs)}}


@cache
def folded_otherwise() -> dict[str, str]:
    """What becomes of each sign that without case is another or several, and that LIKE takes for itself."""
    signs = map(chr, chain(range(0x80, 0x2200), range(0xFB00, 0xFB18)))
    folded = ((sign, sign.casefold()) for sign in signs)
    return {sign: text for sign, text in folded if text != sign and (len(text) > 1 or text.isascii())}


def _has_no_case(sign: str) -> bool:
    """No other sign is the same without case."""
    return sign.upper() == sign == sign.lower()


def _in_pattern(sign: str) -> str:
    if sign in ("%", "_", _ESCAPE):
        return _ESCAPE + sign
    # Any one sign; Python looks at it.
    return sign if sign.isascii() or _has_no_case(sign) else "_"
