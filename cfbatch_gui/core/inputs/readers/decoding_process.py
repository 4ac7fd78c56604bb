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


class Decoding:
    def __init__(self, process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
        self._process, self._said = process, said
        self.stream = cast("IO[bytes]", process.stdout)  # a pipe

    def finish(self) -> None:
        """Call this at the end of the stream, which looks the same when the process failed. Raises DecodingError."""
        self.stream.close()
        if status := self._process.wait():
            self._said.seek(0)
            raise DecodingError(self._said.read(_MOST_WORDS).decode(errors="replace"), status)


@contextmanager
def decoding(kind: str, path: Path, *arguments: str) -> Iterator[Decoding]:
    """Start a process that decodes a file, without the user's secrets; it is killed when the block ends."""
    is_packed = getattr(sys, "frozen", False)
    own = [sys.executable, *([decoding_program.WORD] if is_packed else ["-P", decoding_program.__file__])]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 # ourselves
            [*own, kind, str(path.absolute()), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            env=without_secrets(os.environ),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        with process:
            try:
                yield Decoding(process, said)
            finally:
                process.kill()
