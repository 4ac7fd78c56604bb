"""Messy CSV files understood, against csv.Sniffer, CleverCSV and DuckDB's sniffer.

Ours is given nothing but the bytes; the others are told the encoding, and two of them which separators there are. Of
several settings that a program has for unusual files, each file counts with the one that serves it best.
"""

import time

from benchmarks.limits import Figures
from benchmarks.messy_csv.corpus import corpus
from benchmarks.messy_csv.detectors import RIVALS, is_here, ours
from benchmarks.messy_csv.judging import Verdict, best_verdict
from benchmarks.messy_csv.model import MessyFile

OURS = "CF Batch"
_MEASURES = ("separator", "header", "cells")


def main(figures: Figures) -> None:
    """Files understood in all, of each family, and those that ours does not understand."""
    files = list(corpus())
    detectors = {OURS: ours, **{name: each for name, each in RIVALS.items() if is_here(name)}}
    if missing := [name for name in RIVALS if name not in detectors]:
        print(f"Not installed, so not measured: {', '.join(missing)}. build/interop has them after make interop.")
    verdicts: dict[str, list[Verdict]] = {}
    took: dict[str, float] = {}
    for name, detect in detectors.items():
        start = time.perf_counter()
        verdicts[name] = [best_verdict(file, detect) for file in files]
        took[name] = (time.perf_counter() - start) / len(files)
    for name, found in verdicts.items():
        parts = ", ".join(f"{measure} {_share(found, measure):.1f}" for measure in _MEASURES)
        limit = 100.0 if name == OURS else None
        title = f"{len(files)} files understood by {name}"
        figures.add(title, _share(found, "all"), "%", limit=limit, is_least=True, note=parts)
    figures.versus("time for a file", took[OURS], "csv.Sniffer", took["csv.Sniffer"], limit=20.0)
    own = [bool(verdict.encoding) for verdict in verdicts[OURS]]
    figures.add("encoding found or guessed right", 100 * sum(own) / len(own), "%", limit=100.0, is_least=True)
    _print_families(files, verdicts)
    for file, verdict in zip(files, verdicts[OURS], strict=True):
        if not verdict.all:
            print(f"not understood: {file.name}, {verdict}")


def _share(verdicts: list[Verdict], measure: str) -> float:
    """Percent of the files in which it is right."""
    return 100 * sum(bool(getattr(verdict, measure)) for verdict in verdicts) / len(verdicts)


def _print_families(files: list[MessyFile], verdicts: dict[str, list[Verdict]]) -> None:
    print(f"\n{'all of it right':28}{'files':>6}" + "".join(f"{name:>13}" for name in verdicts))
    for family in dict.fromkeys(file.family for file in files):
        members = [index for index, file in enumerate(files) if file.family == family]
        counts = [sum(found[index].all for index in members) for found in verdicts.values()]
        print(f"{family:28}{len(members):6}" + "".join(f"{count:13}" for count in counts))
