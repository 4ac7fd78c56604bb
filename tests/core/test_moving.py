"""What another program has open for a moment is moved or removed once it is closed; what stays open is said."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.system.files import move_own_file, remove_own_file
from cfbatch_gui.core.system.moving import PAUSES, move_file, remove_file


def held(times: int, act: Callable[..., object]) -> Callable[..., None]:
    """`act`, refused so many times as Windows refuses it while another program has the file open."""
    left = [times]

    def refuse(*paths: Path) -> None:
        if left[0]:
            left[0] -= 1
            raise PermissionError(errno.EACCES, "The process cannot access the file", str(paths[0]))
        act(*paths)

    return refuse


def test_a_file_that_is_held_for_a_moment_is_moved_and_removed(tmp_path: Path) -> None:
    part, target = tmp_path / "part", tmp_path / "größe 1.csv"
    part.write_bytes(b"new")
    target.write_bytes(b"old")
    slept: list[float] = []
    move_file(part, target, replace=held(3, Path.replace), sleep=slept.append, is_patient=True)
    assert target.read_bytes() == b"new" and not part.exists()
    assert tuple(slept) == PAUSES[:3]
    remove_file(target, remove=held(2, Path.unlink), sleep=slept.append, is_patient=True)
    assert not target.exists() and tuple(slept[3:]) == PAUSES[:2]
    remove_file(target, sleep=slept.append)
    assert len(slept) == 5, "nothing was there, and nothing was waited for"


def test_a_file_that_stays_open_is_given_up_and_elsewhere_at_once(tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.write_bytes(b"new")
    slept: list[float] = []
    with pytest.raises(PermissionError):
        move_file(part, tmp_path / "a", replace=held(99, Path.replace), sleep=slept.append, is_patient=True)
    assert tuple(slept) == PAUSES
    with pytest.raises(PermissionError):
        remove_file(part, remove=held(99, Path.unlink), sleep=slept.append, is_patient=False)
    assert tuple(slept) == PAUSES and part.read_bytes() == b"new"


def test_in_the_own_folder_it_is_a_sentence(tmp_path: Path) -> None:
    file, folder = tmp_path / "texts-1.json", tmp_path / "folder"
    file.write_bytes(b"[]")
    folder.mkdir()
    (folder / "inside").mkdir()
    with pytest.raises(DataError, match="“folder” in the program's own folder could not be removed"):
        remove_own_file(folder)
    with pytest.raises(DataError, match="“folder” could not be written"):
        move_own_file(file, folder)
    remove_own_file(file)
    remove_own_file(file)
    assert not file.exists()
