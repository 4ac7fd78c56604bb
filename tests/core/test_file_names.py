"""A name of a job becomes a name that every system takes for a file."""

import pytest

from cfbatch_gui.core.system.file_names import LONGEST_STEM, file_name, file_stem


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Prices: old/new", "Prices- old-new"),
        (r"C:\temp\a?.*", "C--temp-a-.-"),
        ("a\tb\x00c", "a-b-c"),
        (" . hidden . ", "hidden"),
        ("con", "con_"),
        ("NUL.tar", "NUL_.tar"),
        ("COM1 .x", "COM1_ .x"),
        ("lpt³", "lpt³_"),
        ("console", "console"),
        ("Com10", "Com10"),
        ("Gro\u0308ße", "Größe"),
        ("", "job"),
        ("...", "job"),
        ("x" * 200, "x" * LONGEST_STEM),
        (f"{'x' * 79} y", "x" * 79),
        ("日本語 🙂", "日本語 🙂"),
    ],
)
def test_before_a_suffix(name: str, stem: str) -> None:
    assert file_stem(name, "job") == stem


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("old/new, map.png", "old-new, map.png"),
        ("AUX.csv", "AUX_.csv"),
        ("model v1.2.csv", "model v1.2.csv"),
        ("?.csv", "-.csv"),
        (" .csv", "_.csv"),
        (f"{'x' * 200}.csv", f"{'x' * LONGEST_STEM}.csv"),
        ("no suffix: none", "no suffix- none"),
    ],
)
def test_with_a_suffix(name: str, whole: str) -> None:
    assert file_name(name) == whole
