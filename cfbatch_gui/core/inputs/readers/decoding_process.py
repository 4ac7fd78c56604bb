"""Decode a file in a process of its own, which arro3 (0.9.1) and calamine (0.37) may end at a damaged file."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from cfbatch_gui.core.inputs.readers import decoding_program
from cfbatch_gui.core.system.processes import without_secrets

_MOST_WORDS = 500  # characters of the standard error of a process that failed


class DecodingError(Exception):
    """The process ended before it had written everything; the message is its standard error."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@contextmanager
def decoding(kind: str, path: Path, *arguments: str) -> Iterator[IO[bytes]]:
    """Give what a process writes that decodes a file, without the user's secrets; it is killed when the block ends.

    Raises DecodingError if the process failed and all that it wrote was read, also in place of the block's own error.
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
        wrong: Exception | None = None
        try:
            try:
                yield written
            except Exception as error:  # noqa: BLE001 # raised below, unless the process knows the cause
                wrong = error
            if not written.read(1) and (status := process.wait()):
                said.seek(0)
                raise DecodingError(said.read(_MOST_WORDS).decode(errors="replace"), status) from wrong
        finally:
            process.kill()
        if wrong is not None:
            raise wrong
