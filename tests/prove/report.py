"""Counts of kills and findings, saved as JSON by the worker processes and printed as tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tests.prove.compare import Breach, Finding

MOST_WORDS = 30  # findings that are printed individually


@dataclass
class Part:
    """One process's results of one scene. `tried` counts states after a power cut, and rounds in the account."""

    name: str
    kills: int = 0
    tried: int = 0
    breaches: dict[str, int] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, where: str, found: Sequence[Finding]) -> None:
        """Add findings; `where` is the folder in which they can be inspected."""
        self.count(found)
        self.words += [f"{finding.breach.value}: {finding.words} ({where})" for finding in found]

    def count(self, found: Iterable[Finding]) -> None:
        for finding in found:
            self.breaches[finding.breach.value] = self.breaches.get(finding.breach.value, 0) + 1

    def take_in(self, other: "Part") -> None:
        """Add another process's results of the same scene."""
        self.kills += other.kills
        self.tried += other.tried
        for breach, times in other.breaches.items():
            self.breaches[breach] = self.breaches.get(breach, 0) + times
        self.words += other.words
        self.seconds = max(self.seconds, other.seconds)


@dataclass
class Catch:
    """A mutant, and in `how` the breach as which it was caught, or "". `words` describe the first finding."""

    mutant: str
    step: str
    how: str
    words: str


@dataclass
class Report:
    """The results of all scenes and all mutants; `seconds` is the duration of the whole run."""

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

    def add_catch(self, mutant: str, step: str, found: Finding | None) -> None:
        """Add how a mutant was caught; None: it was not."""
        self.catches.append(Catch(mutant, step, found.breach.value if found else "", found.words if found else ""))

    def take_in(self, other: "Report") -> None:
        """Add another process's results."""
        for part in other.parts:
            self.part(part.name).take_in(part)
        self.catches += other.catches

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found in the unchanged program, and every mutant was caught."""
        return not any(part.breaches for part in self.parts) and all(catch.how for catch in self.catches)

    @property
    def kills(self) -> int:
        """The number of kills in all scenes."""
        return sum(part.kills for part in self.parts)

    def save(self, path: Path) -> None:
        """Save the report as JSON."""
        path.write_bytes(msgspec.json.encode(self))

    @staticmethod
    def load(path: Path) -> "Report":
        """Load a report from JSON."""
        return msgspec.json.decode(path.read_bytes(), type=Report)

    def lines(self) -> list[str]:
        """The report as lines of text: tables of scenes and mutants, and findings."""
        rows = [
            [
                each.name,
                each.kills,
                each.tried,
                *(each.breaches.get(breach, 0) for breach in Breach),
                round(each.seconds),
            ]
            for each in self.parts
        ]
        caught = [[each.mutant, each.how or "NOT CAUGHT", each.step] for each in self.catches]
        words = [f"{part.name}: {each}" for part in self.parts for each in part.words]
        return [
            *table(["", "kills", "tried", *(breach.value for breach in Breach), "seconds"], rows),
            *(["", *table(["mutant", "caught as", "at"], caught)] if caught else []),
            *(["", *words[:MOST_WORDS], f"{len(words)} findings"] if words else []),
        ]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """The lines of a table; the first column is left-aligned, and so is what is no number."""
    texts = [head, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(head))]
    return ["  ".join(map(_padded, row, widths)).rstrip() for row in texts]


def _padded(cell: str, width: int) -> str:
    return cell.rjust(width) if cell.isdigit() else cell.ljust(width)
