"""Sample files as users have them, made from a fixed seed."""

import csv
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

_METHODS = (
    "a survey of {n} households", "{n} hours of recordings", "a field trial in {n} villages",
    "a model with {n} parameters",
    "interviews with {n} teachers", "samples from {n} rivers", "{n} years of weather records",
    "a corpus of {n} letters",
)  # fmt: skip
_SUBJECTS = (
    "how children learn a second language at home", "what the spread of invasive mussels costs local fisheries",
    "whether night trains replace short flights", "the price of olive oil after a dry summer",
    "how readers find their way through long documents", "what makes a bridge hum in side wind",
    "the decline of wild bees along motorways", "how small towns keep their libraries open",
    "whether shade trees cool a street more than awnings", "how dialects change when a tunnel opens",
    "what a museum visitor remembers a week later", "the reuse of bricks from demolished factories",
)  # fmt: skip
_FINDINGS = (
    "The effect is small but holds in every group we looked at.", "Half of it is explained by income alone.",
    "Contrary to earlier work, season matters more than age.", "We find no difference once distance is held constant.",
    "The first two years decide; later measures come too late.", "Results agree with registers kept since 1954.",
)  # fmt: skip
_ENDS = (
    "Data and code are open.", "We end with advice for planners.", "A second round of measurements is under way.",
    "The method carries over to other regions.", "Limits of the sample are discussed.",
)  # fmt: skip
_THINGS = (
    ("Lighting", "desk lamp"), ("Lighting", "floor lamp"), ("Lighting", "reading light"), ("Lighting", "wall lamp"),
    ("Garden", "garden hose"), ("Garden", "pruning shears"), ("Garden", "watering can"), ("Garden", "leaf rake"),
    ("Kitchen", "frying pan"), ("Kitchen", "bread knife"), ("Kitchen", "mixing bowl"), ("Kitchen", "teapot"),
    ("Textiles", "wool blanket"), ("Textiles", "linen curtain"), ("Textiles", "bath towel"),
    ("Textiles", "cushion cover"),
    ("Paint", "wall paint"), ("Paint", "wood varnish"), ("Paint", "chalk paint"), ("Paint", "primer"),
)  # fmt: skip
_LOOKS = ("brass", "oak", "matt black", "white", "copper", "sage green", "slate", "terracotta", "natural", "navy blue")
_TRAITS = (
    "dimmable", "with a round base", "for small rooms", "made in Portugal", "easy to clean",
    "with five years of warranty",
    "in a gift box", "for beginners", "hand-finished", "from recycled material", "for outdoor use", "extra long",
)  # fmt: skip
_THEMES = ("delivery", "the price", "the app", "customer service", "the packaging", "returns", "the size", "the colour")
_OPINIONS = (
    "came two days late, and nobody said a word.", "is better than anything I had before.", "could be clearer.",
    "was sorted out within an hour, thank you!", "is not worth the money.", "works exactly as described.",
    "has become worse since the update.", "made me smile.", "is fine, nothing special.", "needs a second look.",
)  # fmt: skip

_CLAUSES = (
    "Notice is given by letter or e-mail, at least thirty days before the end of a month; what was paid for the time"
    " after it is given back within two weeks.",
    "Neither party answers for what it could not foresee, such as strikes, floods, or the failure of a public network.",
    "For damage to life and health, and for what was done on purpose, liability is not limited by anything said here.",
    "Should one of these clauses not hold, the others stay as they are, and the parties look for one that comes close.",
    "The law of the country in which the provider has its seat applies; consumers keep their own country's rights.",
)


def abstracts(path: Path, count: int) -> Path:
    """Short scientific summaries with a number and a year."""
    chance = random.Random(7)

    def row(number: int) -> Sequence[object]:
        method = chance.choice(_METHODS).format(n=chance.randrange(12, 9_000))
        text = f"We study {chance.choice(_SUBJECTS)}, with {method}. {chance.choice(_FINDINGS)} {chance.choice(_ENDS)}"
        return f"10.5555/{100_000 + number}", chance.randrange(2019, 2025), f"{text} Paper {number + 1:,}."

    return _table(path, ("doi", "year", "abstract"), map(row, range(count)))


def catalogue(path: Path, count: int) -> Path:
    """Names of goods with a number that begins with zeros, and their department."""
    chance = random.Random(3)

    def row(number: int) -> Sequence[object]:
        department, thing = chance.choice(_THINGS)
        traits = ", ".join(chance.sample(_TRAITS, 2))
        text = f"{thing.capitalize()}, {chance.choice(_LOOKS)}, {traits}, model {number + 1}"
        return f"{4_000 + number:06}", text, department

    return _table(path, ("sku", "description", "department"), map(row, range(count)))


def reviews(path: Path, queries: int, texts: int, *, gaps: int = 0, separator: str = ",") -> Path:
    """Themes with reviews to be ranked against each; some reviews are empty, and some rows have no theme."""
    chance = random.Random(11)
    rows: list[list[object]] = []
    for query in range(queries):
        theme = f"complaints about {_THEMES[query % len(_THEMES)]}" + (f", store {query // 8}" if query > 7 else "")
        for _ in range(texts):
            text = f"{chance.choice(_THEMES).capitalize()} {chance.choice(_OPINIONS)}"
            rows.append([theme, text, f"R-{len(rows) + 1:05}", chance.choice((0, 0, 1, 2))])
    for place in chance.sample(range(len(rows)), gaps):
        rows[place][0 if place % 4 == 0 else 1] = ""
    return _table(path, ("query", "review", "id", "rating"), rows, separator=separator)


def without_labels(path: Path, source: Path) -> Path:
    """The questions and answers of a file that also has labels."""
    with source.open(encoding="utf-8", newline="") as file:
        rows = [(row["question"], row["answer"]) for row in csv.DictReader(file)]
    return _table(path, ("question", "answer"), rows)


def beginnings(path: Path, source: Path, *, letters: int = 64) -> Path:
    """A file of questions and answers like `source`, whose answers end after so many letters."""
    with source.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    return _table(path, names, ([query, answer[:letters], *rest] for query, answer, *rest in rows))


def clauses(path: Path) -> Path:
    """Questions about a contract, with clauses of many lines to be ranked against them."""
    chance = random.Random(5)
    queries = ("how do I end the contract", "who is liable for damage", "where are disputes settled")
    topics = (
        "Ending the contract",
        "Liability",
        "Disputes and the law that applies",
        "Payment",
        "Changes to the terms",
    )

    def clause(topic: str) -> str:
        lines = [
            f"{topic}. The parties agree on the following, in writing and without further notice.",
            *(f"({number}) {chance.choice(_CLAUSES)}" for number in range(1, 8)),
        ]
        return "\n".join(lines)

    rows = [[query, clause(topic), topic] for query in queries for topic in topics]
    return _table(path, ("query", "clause", "heading"), rows)


def old_letters(path: Path) -> Path:
    """A file from a program of the nineties: Windows-1252, semicolons."""
    lines = ["id;text", "1;Die Straße ist naß.", "2;Ölgemälde, 60 × 80 cm – 300 €", "3;„Müßiggang“ sagt Frau Jäger"]
    lines += [f"{number};Größe {number}, für Türen und Fenster" for number in range(4, 60)]
    path.write_bytes("\r\n".join(lines).encode("cp1252"))
    return path


def misquoted(path: Path) -> Path:
    """A table in which three rows have misplaced quotation marks."""
    rows = (f"{number},Brass lamp no. {number},{number + 20}" for number in range(100, 140))
    lines = ["sku,description,price", *rows]
    lines[4] = '103,"The ""old"" lamp" of brass,34'
    lines[9] = '108,Screen of 27" with a stand,129'
    lines[17] = '116,"A sofa for two\n117,Cushion, blue",17'
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _table(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]], *, separator: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer: Callable[..., object] = csv.writer(stream, delimiter=separator).writerows
        writer([names, *rows])
    return path


def products(path: Path, *, june: bool = False, count: int = 10_000) -> Path:
    """A catalogue of goods; in June, of 10,000, 68 are changed, 120 new, 40 gone, and 12 have another id."""
    chance = random.Random(17)
    rows: list[tuple[str, str, str, str]] = []
    for number in range(count):
        department, thing = chance.choice(_THINGS)
        traits = ", ".join(chance.sample(_TRAITS, 2))
        text = f"{thing.capitalize()}, {chance.choice(_LOOKS)}, {traits}, model {number + 1}"
        rows.append((f"A-{number + 1:05}", text, department, f"{5 + number % 90}.90"))
    if june:
        share = count / 10_000
        touched = iter(random.Random(4).sample(range(count), count // 2))
        for _ in range(round(68 * share)):
            index = next(touched)
            sku, text, department, price = rows[index]
            rows[index] = (sku, f"{text}, now with five years of guarantee", department, price)
        for _ in range(round(12 * share)):
            index = next(touched)
            rows[index] = (f"C-{index:05}", *rows[index][1:])
        gone = {next(touched) for _ in range(round(40 * share))}
        rows = [row for index, row in enumerate(rows) if index not in gone]
        for number in range(round(120 * share)):
            department, thing = chance.choice(_THINGS)
            text = f"New: {thing}, {chance.choice(_LOOKS)}, {chance.choice(_TRAITS)}, series {number + 1}"
            rows.insert(2 + number * 83, (f"B-{number + 1:05}", text, department, "19.90"))
    return _table(path, ("sku", "description", "department", "price"), rows)
