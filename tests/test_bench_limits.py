"""What `make bench` measures memory with, and when it fails."""

import math

import pytest

from benchmarks.limits import Figure, Figures, apart, peak_memory

MEGABYTE = 1 << 20


def grown_by(megabytes: int) -> float:
    before = peak_memory()
    held = b"x" * (megabytes * MEGABYTE)
    assert held.count(b"x") == len(held)
    return peak_memory() - before


def test_the_peak_of_a_part_does_not_begin_with_that_of_the_process_that_starts_it() -> None:
    held = b"x" * (60 * MEGABYTE)
    assert 19 < apart(grown_by, 20) < 50
    assert peak_memory() > len(held) / MEGABYTE


@pytest.mark.parametrize(
    ("figure", "is_broken"),
    [
        (Figure("", 3.5, "×", 3.5), False),
        (Figure("", 3.6, "×", 3.5), True),
        (Figure("", 3.6, "×"), False),
        (Figure("", 99.0, "%", 100.0, is_least=True), True),
        (Figure("", 100.0, "%", 100.0, is_least=True), False),
        (Figure("", math.nan, "×", 3.5), True),
        (Figure("", math.nan, "×", 3.5, is_least=True), True),
    ],
)
def test_a_limit_is_kept_or_broken(figure: Figure, is_broken: bool) -> None:
    assert figure.is_broken is is_broken


def test_a_figure_is_printed_as_it_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    figures = Figures()
    figures.versus("rows read", 2.4, "csv.reader alone", 0.6, limit=3.5)
    figures.add("memory", 205.2, "MB", limit=240)
    first, second = capsys.readouterr().out.splitlines()
    assert first.split() == [
        "rows",
        "read",
        "2.40",
        "s",
        "600",
        "ms",
        "4.00",
        "≤",
        "3.50",
        "×",
        "BROKEN",
        "csv.reader",
        "alone",
    ]
    assert second.split() == ["memory", "205", "MB", "≤", "240", "MB", "ok"]
    assert [figure.is_broken for figure in figures.found] == [True, False]
