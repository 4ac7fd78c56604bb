import os
import sys
from pathlib import Path, PureWindowsPath

import pytest

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.system.paths import Paths, default_root


def test_each_platform_has_its_place() -> None:
    home = {"HOME": "/home/ann"}
    assert default_root(home, "linux") == Path("/home/ann/.local/share/cfbatch")
    assert default_root({**home, "XDG_DATA_HOME": "/data"}, "linux") == Path("/data/cfbatch")
    assert default_root({**home, "XDG_DATA_HOME": "relative"}, "linux") == Path("/home/ann/.local/share/cfbatch")
    assert default_root(home, "darwin") == Path("/home/ann/Library/Application Support/CF Batch")
    local = "C:\\Users\\Ann\\AppData\\Local"
    assert default_root({"LOCALAPPDATA": local}, "win32") == Path(PureWindowsPath(local) / "CF Batch")


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_override_stands_above_all(platform: str, tmp_path: Path) -> None:
    environ = {"CFBATCH_DATA_DIR": str(tmp_path), "XDG_DATA_HOME": "/data", "LOCALAPPDATA": "C:\\x", "HOME": "/h"}
    assert default_root(environ, platform) == tmp_path


def test_everything_is_in_one_folder_of_this_user(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "a" / "b")
    paths.create()
    paths.create()
    everything = (
        paths.ledger,
        paths.lock,
        paths.submissions,
        paths.settings,
        paths.log,
        paths.practice,
        paths.job("j1"),
    )
    assert all(path.is_relative_to(paths.root) for path in everything)
    if sys.platform != "win32":
        assert paths.root.stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="--data-dir"):
        Paths(tmp_path / "file" / "data").create()
    assert os.listdir(tmp_path) == ["file"]  # noqa: PTH208
