"""A few starts on damaged data folders; `make prove` does thousands."""

from pathlib import Path

import pytest

from tests.prove.damaging import DamagedStarts
from tests.prove.report import Part

pytest.importorskip("fcntl", reason="the harness simulates time with file descriptors")


def test_a_damaged_data_folder_loses_nothing_without_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = DamagedStarts(tmp_path, seed=1, patch=monkeypatch.setattr)
    part = Part("damaged starts")
    try:
        assert starts.harmless() == []
        starts.run(40, part)
    finally:
        starts.close()
    assert part.words == [] and part.tried == 40
