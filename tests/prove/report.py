"""Counts of kills and findings, saved as JSON by the worker processes and printed as tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tests.prove.compare import Breach, Finding

MOST_WORDS = 30  # findings that are printed individually


@dataclass
class Part:
    """One process's results of one part of the proof. `tried` counts what is tried without a kill: distinct
    states after a power cut, starts, answers, damages; of what is killed in rounds, the rounds. `counts` are by what
    was counted besides; `seconds` is its duration.
    """

    name: str
    kills: int = 0
    tried: int = 0
    breaches: dict[str, int] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, where: str, found: Iterable[Finding]) -> None:
        """Add findings; `where` is the folder in which they can be inspected."""
        for finding in found:
            self.breaches[finding.breach.value] = self.breaches.get(finding.breach.value, 0) + 1
            self.words.append(f"{finding.breach.value}: {finding.words} ({where})")

    def count(self, more: Mapping[str, int]) -> None:
        """Add to the counts."""
        for what, times in more.items():
            self.counts[what] = self.counts.get(what, 0) + times

    def take_in(self, other: "Part") -> None:
        """Add another process's results of the same part."""
        self.kills += other.kills
        self.tried += other.tried
        for breach, times in other.breaches.items():
            self.breaches[breach] = self.breaches.get(breach, 0) + times
        self.words += other.words
        self.count(other.counts)
        self.seconds = max(self.seconds, other.seconds)


@dataclass
class Catch:
    """A broken variant, and in `how` the breach as which it was caught, or "". `words` describe the first finding."""

    variant: str
    step: str
    how: str
    words: str = ""


@dataclass
class Report:
    """The results of all parts and all broken variants; `seconds` is the duration of the whole run."""

    parts: list[Part] = field(default_factory=list)
    catches: list[Catch] = field(default_factory=list)
    seconds: float = 0.0

    def part(self, name: str) -> Part:
        """The part of this name, which is created if necessary."""
        found = next((part for part in self.parts if part.name == name), None)
        if found is None:
            found = Part(name)
            self.parts.append(found)
        return found

    def take_in(self, other: "Report") -> None:
        """Add another process's results."""
        for part in other.parts:
            self.part(part.name).take_in(part)
        self.catches += other.catches

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found in the unchanged program, and every broken variant was caught."""
        return not any(part.breaches for part in self.parts) and all(catch.how for catch in self.catches)

    @property
    def kills(self) -> int:
        """The number of kills in all parts."""
        return sum(part.kills for part in self.parts)

    @property
    def tried(self) -> int:
        """The number of states, starts, answers and damages in all parts."""
        return sum(part.tried for part in self.parts)

    def save(self, path: Path) -> None:
        """Save the report as JSON."""
        path.write_bytes(msgspec.json.encode(self))

    @staticmethod
    def load(path: Path) -> "Report":
        """Load a report from JSON."""
        return msgspec.json.decode(path.read_bytes(), type=Report)

    def lines(self) -> list[str]:
        """The report as lines of text: tables of parts and variants, and findings."""
        return [*self._parts(), *self._counts(), *self._catches(), *self._words()]

    def _parts(self) -> list[str]:
        columns = ["kills", "tried", *(breach.value for breach in Breach)]
        total = Part("all")
        for part in self.parts:
            total.take_in(part)
        rows = [
            [part.name, str(part.kills), str(part.tried), *(str(part.breaches.get(each.value, 0)) for each in Breach)]
            for part in (*self.parts, total)
        ]
        return table(["", *columns], rows)

    def _counts(self) -> list[str]:
        lines = [f"{part.name}: {_listed(part.counts)}" for part in self.parts if part.counts]
        return ["", *lines] if lines else []

    def _catches(self) -> list[str]:
        if not self.catches:
            return []
        rows = [[each.variant, each.how or "NOT CAUGHT", each.step] for each in self.catches]
        return ["", *table(["broken on purpose", "caught as", "at"], rows)]

    def _words(self) -> list[str]:
        words = [f"{part.name}: {each}" for part in self.parts for each in part.words]
        left = len(words) - MOST_WORDS
        return ["", *words[:MOST_WORDS], *([f"… and {left} more"] if left > 0 else [])] if words else []


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{times:,} {what}" for what, times in sorted(counts.items()))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; columns of numbers are right-aligned."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    is_number = [all(row[column].isdigit() for row in rows) for column in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, is_number, strict=True)
        )
        return "  ".join(cells).rstrip()

    return [line(head), "  ".join("-" * width for width in widths), *map(line, rows)]
