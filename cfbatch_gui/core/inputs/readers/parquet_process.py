"""Parquet decoded in a process of its own, which hands the rows on as an Arrow stream.

arro3 passes its batches through C, where a damaged page that it stumbles over cannot be raised: it ends its whole
process (seen with 0.9.1: a bit width or a length that cannot be). So that process is not the one with the user's jobs.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

WORD = "--decode-parquet"  # by which the packed program, which has no Python beside it, is asked for the same
_MOST_WORDS = 500  # characters of what the process said before it ended


class DecodingError(Exception):
    """The process ended before all rows were there; with what it said."""


class Decoding:
    """A process at work: `stream` is all rows of the file in Arrow's IPC form, decoded while it is read."""

    def __init__(self, process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
        self._process, self._said = process, said
        self.stream = cast("IO[bytes]", process.stdout)  # a pipe

    def finish(self) -> None:
        """To be called at the stream's end, which looks the same when the process died. Raises DecodingError."""
        self.stream.close()
        if self._process.wait():
            self._said.seek(0)
            raise DecodingError(self._said.read(_MOST_WORDS).decode(errors="replace"))


@contextmanager
def decoding(path: Path) -> Iterator[Decoding]:
    """Begin to decode a file. The process ends with the block, wherever it is by then."""
    own = [sys.executable, WORD] if getattr(sys, "frozen", False) else [sys.executable, "-P", __file__]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 # ourselves
            [*own, str(path.absolute())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        with process:
            try:
                yield Decoding(process, said)
            finally:
                process.kill()


def main(path: str) -> int:
    """What that process does: the file's rows to standard output. The exit status."""
    from arro3.io import read_parquet, write_ipc_stream

    write_ipc_stream(read_parquet(path), sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[-1]))
