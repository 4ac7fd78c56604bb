"""All the files, by family. The same seed gives the same bytes on every computer."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from benchmarks.messy_csv import around, cells, encodings, small, together
from benchmarks.messy_csv.model import MessyFile

Family = Callable[[random.Random, int], MessyFile]

FAMILIES: dict[str, tuple[Family, int]] = {
    "ordinary": (cells.ordinary, 20),
    "decimal commas": (cells.decimal_commas, 12),
    "texts full of separators": (cells.full_of_separators, 16),
    "escaped quotation marks": (cells.escaped_quotes, 12),
    "single quotation marks": (cells.single_quotes, 8),
    "quotation marks as text": (cells.bare_quotes, 10),
    "cells of several lines": (cells.several_lines, 12),
    "JSON, HTML, paths in cells": (cells.code_in_cells, 10),
    "mostly empty cells": (cells.mostly_empty, 10),
    "ragged rows": (cells.ragged, 12),
    "single column": (cells.single_column, 14),
    "no header": (cells.no_header, 14),
    "header of unusual words": (cells.unusual_header, 8),
    "mixed line ends": (cells.mixed_line_ends, 10),
    "lines above": (around.lines_above, 14),
    "lines below": (around.lines_below, 12),
    "comment lines": (around.comments, 10),
    "several tables": (around.several_tables, 10),
    "other programs' marks": (around.marks_of_programs, 12),
    "byte order marks": (encodings.marked, 10),
    "old encodings": (encodings.old, 39),
    "short old encodings": (encodings.old_and_short, 26),
    "several troubles at once": (together.several_at_once, 30),
}


def corpus(share: float = 1.0) -> Iterator[MessyFile]:
    """Every file, or the first `share` of each family and of those written by hand."""
    for family, (make, count) in FAMILIES.items():
        for number in range(max(1, round(count * share))):
            yield replace(make(random.Random(f"{family} {number}"), number), family=family)
    by_hand = list(small.by_hand())
    yield from by_hand[: max(1, round(len(by_hand) * share))]
