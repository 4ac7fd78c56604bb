"""Messy CSV files understood, beside csv.Sniffer, CleverCSV and DuckDB's sniffer."""

import sys
import time
from collections.abc import Sequence

from benchmarks.messy_csv.corpus import corpus
from benchmarks.messy_csv.detectors import RIVALS, is_here, ours
from benchmarks.messy_csv.judging import Detector, Verdict, best_verdict
from benchmarks.messy_csv.model import MessyFile

OURS = "CF Batch"
_MEASURES = ("separator", "header", "cells", "all")


def main() -> None:
    """Print how many files each program understands, in all and of each family.

    Ours is told nothing; the others are told the encoding, and two of them which separators there are. Of several
    settings that a program has for unusual files, each file counts with the one that serves it best. `--missed` names
    the files that ours does not understand.
    """
    files = list(corpus())
    detectors: dict[str, Detector] = {OURS: ours, **{name: each for name, each in RIVALS.items() if is_here(name)}}
    missing = [name for name in RIVALS if name not in detectors]
    if missing:
        print(f"Not installed, so not measured: {', '.join(missing)}. build/interop has them after make interop.")
    verdicts: dict[str, list[Verdict]] = {}
    seconds = {}
    for name, detect in detectors.items():
        start = time.perf_counter()
        verdicts[name] = [best_verdict(file, detect) for file in files]
        seconds[name] = time.perf_counter() - start
    _print_measures(files, verdicts, seconds)
    _print_families(files, verdicts)
    own = [verdict.encoding for verdict in verdicts[OURS]]
    print(f"\nencoding found or guessed right by {OURS}: {own.count(True)} of {len(own)}")
    if "--missed" in sys.argv:
        for file, verdict in zip(files, verdicts[OURS], strict=True):
            if not verdict.all:
                print(file.name, verdict)


def _print_measures(files: Sequence[MessyFile], verdicts: dict[str, list[Verdict]], seconds: dict[str, float]) -> None:
    print(f"{len(files)} files, {sum(len(file.data) for file in files) / 1000:,.0f} kB; files understood:\n")
    print(f"{'':12}" + "".join(f"{measure:>12}" for measure in _MEASURES) + f"{'ms a file':>12}")
    for name, found in verdicts.items():
        counts = [sum(bool(getattr(verdict, measure)) for verdict in found) for measure in _MEASURES]
        print(
            f"{name:12}"
            + "".join(f"{100 * count / len(files):11.1f}%" for count in counts)
            + f"{1000 * seconds[name] / len(files):12.1f}"
        )


def _print_families(files: Sequence[MessyFile], verdicts: dict[str, list[Verdict]]) -> None:
    print(f"\n{'all of it right':28}{'files':>6}" + "".join(f"{name:>13}" for name in verdicts))
    for family in dict.fromkeys(file.family for file in files):
        places = [index for index, file in enumerate(files) if file.family == family]
        counts = [sum(found[index].all for index in places) for found in verdicts.values()]
        print(f"{family:28}{len(places):6}" + "".join(f"{count:13}" for count in counts))


if __name__ == "__main__":
    main()
