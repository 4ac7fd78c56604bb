"""Decode a file in a process of its own, which arro3 (0.9.1) and calamine (0.37) may end at a damaged file."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.open_file import damaged
from cfbatch_gui.core.inputs.readers import decoding_program
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.system.processes import without_secrets

_MOST_WORDS = 500  # characters of the standard error of a process that failed


@contextmanager
def decoding(kind: str, path: Path, cure: Message, *arguments: str) -> Iterator[Iterator[Any]]:
    """Give the lines of JSON that a process writes about a file; it is killed when the block ends.

    Raises InputError if the process failed and all that it wrote was read, also in place of the block's own error.
    """
    is_packed = getattr(sys, "frozen", False)
    own = [sys.executable, *([decoding_program.WORD] if is_packed else ["-P", decoding_program.__file__])]
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(  # noqa: S603 # ourselves
            [*own, kind, str(path.absolute()), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            env=without_secrets(os.environ),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        ) as process,
    ):
        written = cast("IO[bytes]", process.stdout)  # a pipe
        try:
            yield map(msgspec.json.decode, takewhile(lambda line: line.endswith(b"\n"), written))
        except Exception:
            _check(process, written, said, path, cure)  # it may know the cause
            raise
        else:
            _check(process, written, said, path, cure)
        finally:
            process.kill()


def _check(process: subprocess.Popen[bytes], written: IO[bytes], noted: IO[bytes], path: Path, cure: Message) -> None:
    """Raise InputError if all that a process wrote was read, and it failed."""
    if written.read(1) or not (status := process.wait()):
        return
    noted.seek(0)
    said = noted.read(_MOST_WORDS).decode(errors="replace")
    if status == decoding_program.PROTECTED:
        raise InputError(message("name_is_protected_password_remove_password", name=path.name))
    if status == decoding_program.MISSING:
        raise InputError(message("name_is_parquet_file_part_reads", name=path.name), detail=said)
    raise damaged(path, said, cure)
