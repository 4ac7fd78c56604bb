"""Tables of the kinds that people have: questions, products, people, measurements, logs, plain lists."""

import random

from benchmarks.messy_csv.model import Cells, Table
from benchmarks.messy_csv.sentences import HEADERS, SENTENCES

_FIRST = ("Anna", "Ben", "Carla", "David", "Eva", "Finn", "Grace", "Hugo", "Ida", "Jonas", "Kim", "Lena")
_LAST = ("Smith", "O'Neil", "Berg", "Costa", "Diaz", "Evans", "Fischer", "Green", "Hansen", "Ito", "van Dyk")
_CITY = ("Ulm", "Paris", "New York", "Lyon", "San José", "Graz", "Leeds", "Oslo", "Porto", "Washington, DC")
_THING = ("Desk lamp", "Oak chair", "Mug", "Steel shelf", "Wool rug", "Mirror", "Clock", "Bench", "Bed, double")
_LEVEL = ("INFO", "WARN", "ERROR", "DEBUG")


def sentence(chance: random.Random, language: str = "en") -> str:
    return chance.choice(SENTENCES[language])


def questions(chance: random.Random, count: int, language: str = "en") -> Table:
    """Number, question, answer, category, price; the last two not always."""
    width = chance.choice((3, 4, 5))
    rows = []
    for number in range(1, count + 1):
        whole = (
            f"{number:03}",
            sentence(chance, language),
            f"{sentence(chance, language)} {sentence(chance, language)}",
            chance.choice(("A", "B", "C-1")),
            f"{chance.randrange(1, 90)}.{chance.randrange(10, 99)}",
        )
        rows.append(whole[:width])
    return Table(HEADERS[language][:width], tuple(rows))


def products(chance: random.Random, count: int, *, decimal: str = ".") -> Table:
    names = ("SKU", "Product", "Price", "Weight", "Notes")
    rows = []
    for _ in range(count):
        price = f"{chance.randrange(1, 999)}{decimal}{chance.randrange(10, 99)}"
        weight = f"{chance.randrange(1, 20)}{decimal}{chance.randrange(1, 9)}"
        note = sentence(chance) if chance.random() < 0.6 else ""
        rows.append(
            (f"{chance.choice('ABK')}-{chance.randrange(1000, 9999)}", chance.choice(_THING), price, weight, note)
        )
    return Table(names, tuple(rows))


def people(chance: random.Random, count: int) -> Table:
    names = ("First name", "Last name", "City", "Joined", "Phone")
    rows = [
        (
            chance.choice(_FIRST),
            chance.choice(_LAST),
            chance.choice(_CITY),
            f"{chance.randrange(2001, 2025)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
            f"+49 {chance.randrange(100, 999)} {chance.randrange(10000, 99999)}",
        )
        for _ in range(count)
    ]
    return Table(names, tuple(rows))


def measurements(chance: random.Random, count: int, *, decimal: str = ".") -> Table:
    names = ("time", "temperature", "humidity", "pressure")
    rows = [
        (
            f"2024-05-{1 + number // 24:02} {number % 24:02}:00",
            f"{chance.uniform(-10, 30):.2f}".replace(".", decimal),
            f"{chance.uniform(20, 90):.1f}".replace(".", decimal),
            f"{chance.uniform(980, 1030):.3f}".replace(".", decimal),
        )
        for number in range(count)
    ]
    return Table(names, tuple(rows))


def log(chance: random.Random, count: int) -> Table:
    names = ("timestamp", "level", "module", "message")
    rows = [
        (
            f"2024-05-03T{chance.randrange(24):02}:{chance.randrange(60):02}:07,{chance.randrange(1000):03}",
            chance.choice(_LEVEL),
            f"app.{chance.choice(('db', 'http', 'ui'))}",
            f"{sentence(chance)} [took {chance.randrange(900)} ms; retries=0, code={chance.randrange(9)}]",
        )
        for _ in range(count)
    ]
    return Table(names, tuple(rows))


def colours(chance: random.Random, count: int) -> Table:
    """Words only, under names that nobody has in a list of names for columns."""
    names = ("Shape", "Hue", "Mood")
    rows = [
        (
            chance.choice(("round", "square", "long", "flat")),
            chance.choice(("red", "deep blue", "green", "off-white")),
            chance.choice(("calm", "loud", "very calm", "odd")),
        )
        for _ in range(count)
    ]
    return Table(names, tuple(rows))


def sparse(chance: random.Random, count: int) -> Table:
    """Ten columns, of which most cells are empty."""
    names = tuple(f"field_{number}" for number in range(1, 11))
    rows = tuple(
        (str(number), *(sentence(chance) if chance.random() < 0.2 else "" for _ in range(9)))
        for number in range(1, count + 1)
    )
    return Table(names, rows)


def code(chance: random.Random, count: int) -> Table:
    """Cells of JSON, HTML and paths."""
    names = ("key", "payload", "html", "path")
    rows = [
        (
            f"k{number}",
            f'{{"a": {number}, "b": ["x", "y|z"], "c": "1;2"}}',
            f'<p class="t">{sentence(chance)}</p>',
            f"C:\\data\\{number}\\new,file.txt",
        )
        for number in range(1, count + 1)
    ]
    return Table(names, tuple(rows))


def notes(chance: random.Random, count: int) -> Table:
    """Texts of several lines."""
    rows: list[Cells] = []
    for number in range(1, count + 1):
        lines = [sentence(chance) for _ in range(chance.randrange(1, 4))]
        rows.append((str(number), chance.choice(_THING), "\n".join(lines), str(chance.randrange(1, 6))))
    return Table(("id", "title", "review", "stars"), tuple(rows))


def many_kinds(chance: random.Random, count: int) -> Table:
    """One of the above."""
    kinds = (questions, products, people, measurements, log, colours, sparse, code)
    return chance.choice(kinds)(chance, count)
