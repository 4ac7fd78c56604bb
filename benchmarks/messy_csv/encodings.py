"""Families whose trouble is how letters became bytes."""

import random
from dataclasses import replace

from benchmarks.messy_csv import tables, writing
from benchmarks.messy_csv.cells import SEPARATORS, file
from benchmarks.messy_csv.model import MessyFile, Table
from benchmarks.messy_csv.sentences import HEADERS, SENTENCES

_MARKED = ("utf-8-sig", "utf-16", "utf-16", "utf-8-sig", "utf-32")
_OLD = (  # language and encoding
    ("de", "cp1252"), ("fr", "cp1252"), ("es", "cp1252"), ("pl", "cp1250"), ("cs", "cp1250"), ("hu", "cp1250"),
    ("ru", "cp1251"), ("el", "cp1253"), ("tr", "cp1254"), ("ja", "cp932"), ("zh", "gb18030"), ("ko", "cp949"),
    ("ja", "euc_jp"),
)  # fmt: skip


def _writable(table: Table, encoding: str) -> Table:
    def kept(cell: str) -> str:
        return cell.encode(encoding, "ignore").decode(encoding)

    return Table(tuple(map(kept, table.names)), tuple(tuple(map(kept, row)) for row in table.rows))


def marked(chance: random.Random, number: int) -> MessyFile:
    """A byte order mark, as Excel and Windows' editor write it."""
    language = ("en", "de", "ja", "ru", "pl")[number % 5]
    table, separator = tables.questions(chance, chance.randrange(4, 40), language), SEPARATORS[number % 4]
    made = file("marked", number, writing.doubled(writing.lines_of(table), separator, "\r\n"), separator, table)
    encoding = _MARKED[number % len(_MARKED)]
    return replace(made, data=made.text.encode(encoding), encoding=encoding)


def _old(chance: random.Random, number: int, count: int) -> MessyFile:
    language, encoding = _OLD[number % len(_OLD)]
    table = _writable(tables.questions(chance, count, language), encoding)
    separator = SEPARATORS[number % 3]
    made = file("old", number, writing.doubled(writing.lines_of(table), separator, "\r\n"), separator, table)
    return replace(made, name=f"old-{count}-{number}", data=made.text.encode(encoding), encoding=encoding)


def old(chance: random.Random, number: int) -> MessyFile:
    """A page of text in an encoding of the time before Unicode."""
    return _old(chance, number, chance.randrange(10, 60))


def old_and_short(chance: random.Random, number: int) -> MessyFile:
    """The same with two rows, or with a list of three short texts."""
    if number < len(_OLD):
        return _old(chance, number, 2)
    language, encoding = _OLD[number % len(_OLD)]
    rows = tuple((text,) for text in chance.sample(SENTENCES[language], 3))
    table = _writable(Table((HEADERS[language][1],), rows), encoding)
    made = file("list", number, writing.doubled(writing.lines_of(table), ",", "\r\n"), "", table)
    return replace(made, name=f"list-{number}", data=made.text.encode(encoding), encoding=encoding)
