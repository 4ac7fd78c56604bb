"""Decode Parquet in a process of its own, which writes the rows as an Arrow stream.

arro3 passes its batches through C, where the failure to decode a damaged page cannot be raised and ends the whole
process (seen with 0.9.1: an impossible bit width or length). So this must not be the process with the user's jobs.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

WORD = "--decode-parquet"  # the argument that makes the packed program, which ships no Python executable, decode
_MOST_WORDS = 500  # characters of the standard error of a process that failed


class DecodingError(Exception):
    """The process ended before it had written all rows; the message is its standard error."""


class Decoding:
    """A running process: `stream` is all rows of the file in Arrow's IPC format, decoded while it is read."""

    def __init__(self, process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
        self._process, self._said = process, said
        self.stream = cast("IO[bytes]", process.stdout)  # a pipe

    def finish(self) -> None:
        """Call this at the end of the stream, which looks the same when the process failed. Raises DecodingError."""
        self.stream.close()
        if self._process.wait():
            self._said.seek(0)
            raise DecodingError(self._said.read(_MOST_WORDS).decode(errors="replace"))


@contextmanager
def decoding(path: Path) -> Iterator[Decoding]:
    """Start a process that decodes a file, without the user's secrets; it is killed when the block ends."""
    from cfbatch_gui.core.system.secret_variables import without_secrets  # the other process needs arro3 alone

    own = [sys.executable, WORD] if getattr(sys, "frozen", False) else [sys.executable, "-P", __file__]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 # ourselves
            [*own, str(path.absolute())],
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


def main(path: str) -> int:
    """Write the file's rows to standard output, in the process that `decoding` starts; return its exit status."""
    from arro3.io import read_parquet, write_ipc_stream

    write_ipc_stream(read_parquet(path), sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[-1]))
