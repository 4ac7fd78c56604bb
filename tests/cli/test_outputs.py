"""Two files of `--out` that would be one on the disk are refused before anything is sent."""

from pathlib import Path

import pytest

from cfbatch_gui.cli.working import check_outputs
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind


@pytest.mark.parametrize(("one", "other"), [("ranked.csv", "Ranked.CSV"), ("größe.csv", "gro\u0308ße.csv")])
def test_names_that_differ_by_case_or_composition(tmp_path: Path, one: str, other: str) -> None:
    both = [tmp_path / one, tmp_path / other]
    for platform in ("win32", "darwin"):
        with pytest.raises(UsageError, match="is given twice"):
            check_outputs(both, Kind.RANK, (), platform=platform)
    assert check_outputs(both, Kind.RANK, (), platform="linux") == tuple(both)
