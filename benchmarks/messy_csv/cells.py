"""Families whose trouble is within the table."""

import random
from itertools import chain

from benchmarks.messy_csv import tables, writing
from benchmarks.messy_csv.model import MessyFile, Table

SEPARATORS = (",", ";", "\t", "|")
ENDS = ("\n", "\r\n")


def file(family: str, number: int, text: str, separator: str, table: Table, first_line: int = 1) -> MessyFile:  # noqa: PLR0917
    """A file in UTF-8."""
    return MessyFile(f"{family}-{number}", family, text.encode(), "utf-8", separator, first_line, table)


def ordinary(chance: random.Random, number: int) -> MessyFile:
    table = tables.many_kinds(chance, chance.randrange(3, 60))
    separator, end = SEPARATORS[number % 4], chance.choice(ENDS)
    write = writing.all_quoted if number % 3 == 0 else writing.doubled
    return file("ordinary", number, write(writing.lines_of(table), separator, end), separator, table)


def decimal_commas(chance: random.Random, number: int) -> MessyFile:
    make = (tables.measurements, tables.products)[number % 2]
    table = make(chance, chance.randrange(2, 40), decimal=",")
    separator = (";", "\t", ";", ",", "|", ";")[number % 6]
    return file("decimal", number, writing.doubled(writing.lines_of(table), separator), separator, table)


def full_of_separators(chance: random.Random, number: int) -> MessyFile:
    """Unquoted texts with the same number of some other separator in each row, or with many in some."""
    separator = SEPARATORS[number % 4]
    other = chance.choice([each for each in ",;|" if each != separator])
    rows = []
    for row in range(1, chance.randrange(4, 30)):
        parts = [
            chance.choice(("red", "blue", "old", "very new", "17")) for _ in range(3 if number % 2 else row % 5 + 1)
        ]
        rows.append((str(row), f"{other} ".join(parts), chance.choice(("yes", "no"))))
    table = Table(("id", "tags", "active"), tuple(rows))
    return file("full", number, writing.doubled(writing.lines_of(table), separator), separator, table)


def escaped_quotes(chance: random.Random, number: int) -> MessyFile:
    kind = (tables.questions, tables.products, tables.log, tables.code)[number % 4]
    table = kind(chance, chance.randrange(4, 30))
    rows = (*table.rows, tuple('say "hi", please' if column == 1 else "x" for column in range(table.width)))
    table = Table(table.names, rows)
    separator = SEPARATORS[number % 3]
    return file("escaped", number, writing.escaped(writing.lines_of(table), separator), separator, table)


def single_quotes(chance: random.Random, number: int) -> MessyFile:
    table = writing.without(tables.questions(chance, chance.randrange(4, 20)), '"', "”")
    separator = SEPARATORS[number % 3]
    return file("single", number, writing.single(writing.lines_of(table), separator), separator, table)


def bare_quotes(chance: random.Random, number: int) -> MessyFile:
    """Nothing is quoted, and quotation marks stand wherever the texts have them."""
    separator = "\t|"[number % 2]
    rows = tuple(
        (
            str(row),
            chance.choice(('"Quoted" at first', '5" pipe', 'she said "yes"', '"', "it's")),
            chance.choice(("a, b; c", '7" and 9"', "plain", '"open')),
        )
        for row in range(1, chance.randrange(6, 25))
    )
    table = Table(("id", "title", "text"), rows)
    return file("bare", number, writing.bare(writing.lines_of(table), separator), separator, table)


def several_lines(chance: random.Random, number: int) -> MessyFile:
    table = tables.notes(chance, chance.randrange(3, 25))
    separator, end = SEPARATORS[number % 4], ENDS[number % 2]
    write = writing.all_quoted if number % 3 == 0 else writing.doubled
    return file("lines", number, write(writing.lines_of(table), separator, end), separator, table)


def code_in_cells(chance: random.Random, number: int) -> MessyFile:
    table = tables.code(chance, chance.randrange(2, 20))
    separator = SEPARATORS[number % 4]
    return file("code", number, writing.doubled(writing.lines_of(table), separator), separator, table)


def mostly_empty(chance: random.Random, number: int) -> MessyFile:
    table = tables.sparse(chance, chance.randrange(3, 40))
    separator = SEPARATORS[number % 4]
    return file("sparse", number, writing.doubled(writing.lines_of(table), separator), separator, table)


def ragged(chance: random.Random, number: int) -> MessyFile:
    """Some rows end early, as when a program leaves out empty cells at the end; some have one cell too many."""
    table = tables.questions(chance, chance.randrange(8, 40))
    separator = SEPARATORS[number % 4]
    rows = list(table.rows)
    for _ in range(max(1, len(rows) // 8)):
        at = chance.randrange(1, len(rows))
        rows[at] = rows[at][:-1] if number % 2 else (*rows[at], "extra")
    table = Table(table.names, tuple(rows))
    return file("ragged", number, writing.doubled(writing.lines_of(table), separator), separator, table)


def single_column(chance: random.Random, number: int) -> MessyFile:
    """A list of texts, quoted where a spreadsheet would quote them, or not quoted at all."""
    texts = [f"{tables.sentence(chance)} {tables.sentence(chance)}" for _ in range(chance.randrange(4, 30))]
    if number % 2:  # nothing is quoted; every sign of a separator stays in its text
        texts = [text.replace('"', "”") for text in texts]
    table = Table(("text",) if number % 3 else (), tuple((text,) for text in texts))
    rows = writing.lines_of(table)
    text = writing.bare(rows, ",") if number % 2 else writing.doubled(rows, ",")
    return file("column", number, text, "", table)


def no_header(chance: random.Random, number: int) -> MessyFile:
    kinds = (tables.questions, tables.products, tables.people, tables.measurements, tables.log)
    table = Table((), kinds[number % 5](chance, chance.randrange(4, 40)).rows)
    separator = SEPARATORS[number % 4]
    return file("headless", number, writing.doubled(writing.lines_of(table), separator), separator, table)


def unusual_header(chance: random.Random, number: int) -> MessyFile:
    table = tables.colours(chance, chance.randrange(5, 40))
    separator = SEPARATORS[number % 4]
    return file("words", number, writing.doubled(writing.lines_of(table), separator), separator, table)


def mixed_line_ends(chance: random.Random, number: int) -> MessyFile:
    table = tables.questions(chance, chance.randrange(5, 40))
    separator = SEPARATORS[number % 4]
    ends = ("\r",) if number % 3 == 0 else ("\n", "\r\n") if number % 3 == 1 else ("\n", "\r\n", "\r")
    lines = chain.from_iterable(
        [writing.doubled([row], separator, chance.choice(ends))] for row in writing.lines_of(table)
    )
    return file("ends", number, "".join(lines), separator, table)
