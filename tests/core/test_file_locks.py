"""The locked byte lies behind the content: Windows refuses locked bytes to every other handle of the file."""

import errno
import os
from pathlib import Path

import pytest

from cfbatch_gui.core.system.file_locks import LOCKED_BYTE, is_held_elsewhere, lock_byte


def test_the_byte_is_behind_the_content_and_writing_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_bytes(b"one")
    at: list[int] = []
    with path.open("r+b", buffering=0) as stream:
        stream.seek(3)
        lock_byte(stream.fileno(), lambda file: at.append(os.lseek(file, 0, os.SEEK_CUR)))
        stream.write(b"two")
    assert at == [LOCKED_BYTE]
    assert path.read_bytes() == b"onetwo"


def test_a_lock_that_is_held_leaves_the_position_too(tmp_path: Path) -> None:
    def refuse(file: int) -> None:
        raise OSError(errno.EACCES, "locking violation")

    with (tmp_path / "list").open("w+b", buffering=0) as stream:
        stream.write(b"one")
        with pytest.raises(OSError, match="locking violation") as refused:
            lock_byte(stream.fileno(), refuse)
        assert stream.tell() == 3
    assert is_held_elsewhere(refused.value)
