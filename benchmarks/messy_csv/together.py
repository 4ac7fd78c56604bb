"""A family with several troubles in one file, as files have them that have gone through many hands."""

import random
from dataclasses import replace

from benchmarks.messy_csv import tables, writing
from benchmarks.messy_csv.around import ABOVE, BELOW
from benchmarks.messy_csv.cells import ENDS, SEPARATORS, file
from benchmarks.messy_csv.model import MessyFile, Table

_LANGUAGES = (
    ("en", "utf-8"),
    ("de", "cp1252"),
    ("de", "utf-8-sig"),
    ("ja", "cp932"),
    ("pl", "utf-16"),
    ("fr", "cp1252"),
)


def several_at_once(chance: random.Random, number: int) -> MessyFile:
    """Lines above or comments, a table with or without names, empty and ragged rows, lines below, in any encoding."""
    language, encoding = chance.choice(_LANGUAGES)
    table = _table(chance, language)
    separator, end = chance.choice(SEPARATORS), chance.choice(ENDS)
    write = chance.choice((writing.doubled, writing.doubled, writing.all_quoted))
    above = chance.choice(((), (), chance.choice(ABOVE), ("# made by export.py", "# unit: EUR, hours")))
    if not table.names:
        above = ()  # nobody can say where a table without names begins
    body = write(writing.lines_of(table), separator, end)
    if table.names and chance.random() < 0.3:  # a blank line below the names
        head, rest = body.split(end, 1)
        body = f"{head}{end}{end}{rest}"
    below = chance.choice(BELOW) if chance.random() < 0.3 else ()
    text = "".join(line + end for line in above) + body + "".join(line + end for line in below)
    made = file("together", number, text, separator, table, len(above) + 1)
    return replace(made, data=text.encode(encoding, "strict"), encoding=encoding)


def _table(chance: random.Random, language: str) -> Table:
    count = chance.randrange(4, 40)
    if language != "en":
        table = tables.questions(chance, count, language)
    else:
        table = chance.choice((tables.notes, tables.products, tables.log, tables.sparse, tables.people))(chance, count)
    rows = list(table.rows)
    if chance.random() < 0.3:
        at = chance.randrange(1, len(rows))
        rows[at] = rows[at][:-1]
    return Table(table.names if chance.random() < 0.8 else (), tuple(rows))
