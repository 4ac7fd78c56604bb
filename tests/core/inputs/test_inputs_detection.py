"""Messy CSV files are detected better than by well-known detectors, as benchmarks/detect_csv.py measures."""

import pytest

from benchmarks.messy_csv.corpus import corpus
from benchmarks.messy_csv.detectors import RIVALS, is_here, ours
from benchmarks.messy_csv.judging import Detector, best_verdict

FILES = list(corpus(0.15))


def understood(detect: Detector) -> list[str]:
    return [file.name for file in FILES if best_verdict(file, detect).all]


def test_files_are_understood_to_the_letter() -> None:
    missed = {file.name for file in FILES} - set(understood(ours))
    assert len(FILES) >= 50
    assert missed == set()


@pytest.mark.interop
@pytest.mark.parametrize("rival", list(RIVALS))
def test_others_understand_fewer(rival: str) -> None:
    if not is_here(rival):
        pytest.skip(f"{rival} is not installed")
    assert len(understood(RIVALS[rival])) < 0.9 * len(FILES)
