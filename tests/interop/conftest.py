"""Fixtures: results to export to files for other programs. A test whose program is not installed is skipped.

`make interop` installs them all.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.core.results.folders import FAILED, LEFT_OUT, WAITING, Outcome, Pair, Table

DIMENSION = 32
TEXTS = (
    "plain", "comma, quote \" and 'more'", "two\nlines", "a\ttab", "\rreturn", "  blanks  ", "😀 مرحبا 東京", "=1+1",
    "NULL", "nan", "007", "1e5", "\u00a0", "x" * 2000,
)  # fmt: skip


def vectors_of(count: int) -> NDArray[np.float32]:
    """Unit vectors of shape (count, DIMENSION); the first then gets tiny, huge and subnormal values and -0.0."""
    found = np.random.default_rng(5).standard_normal((count, DIMENSION)).astype(np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    found[0, :6] = [0.0, -0.0, 1e-45, 3.4028235e38, -1.1754944e-38, 0.1]
    return found


@pytest.fixture
def embedded(tmp_path: Path) -> Table:
    """An embedding of varied texts with two kept columns; the second text has failed, the fourth is pending."""
    outcomes: list[Outcome] = [1.0, FAILED, 1.0, WAITING, *(1.0 for _ in TEXTS[4:])]
    rows = [(f"0{place} 東", text, outcome) for place, (text, outcome) in enumerate(zip(TEXTS, outcomes, strict=True))]
    table = Table(tmp_path / "job", kept=('a.b "c"', "$note"))
    return table.embed(rows, vectors_of(len(TEXTS)), kept=[(text, f"note {text}") for text in TEXTS])


THERE = [place for place in range(len(TEXTS)) if place not in (1, 3)]
IDS = [f"0{place} 東" for place in THERE]


@pytest.fixture
def ranked(tmp_path: Path) -> Table:
    """A ranking of two queries, with ties, ids that contain blanks, and every reason for a missing score."""
    pairs = [
        Pair("how do I reset", "first", 0.25, id="doc 1", label="1", kept=("x",)),
        Pair("how do I reset", "second", 0.5, id="B", label="0", kept=("=1+1",)),
        Pair("how do I reset", "third\nline", 0.25, id="d%20e", label="2", kept=("-3",)),
        Pair("how do I reset", "fourth", 0.25, id="A", label="", kept=("-3",)),
        Pair("how do I reset", "fifth", FAILED, id="E", label="1", kept=("e",)),
        Pair("how do I reset", "sixth", LEFT_OUT, id="F", kept=("f",)),
        Pair("how do I reset", "seventh", WAITING, id="G", kept=("g",)),
        Pair("パスワードを忘れた", "メール", 0.1, id="C", label="1.0", kept=("",)),
        Pair("パスワードを忘れた", "電話", 1 / 3, id="H", label="3", kept=("é",)),
    ]
    return Table(tmp_path / "job", kept=("mine",)).rank(pairs)
