"""Large files on their way to the disk while they are still being written, so that the last flush has little to do."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

_FROM = 64_000_000  # bytes of the first file; below there is nothing to gain


@contextmanager
def flushed_early(*paths: Path) -> Iterator[Callable[[int], None]]:
    """For a block that writes these files, which nobody else may have in use.

    Yields what is to be called with the number of bytes written, as often as one likes; it returns at once.
    Whether anything is on the disk is for the last flush to say.
    """
    with ThreadPoolExecutor(1, "flush") as thread:
        under_way: list[Future[None]] = []
        last = 0

        def written(position: int) -> None:
            nonlocal last
            if position - last >= _FROM and (not under_way or under_way[-1].done()):
                under_way[:] = [thread.submit(_flush, paths)]
                last = position

        yield written


def _flush(paths: tuple[Path, ...]) -> None:
    for path in paths:
        with suppress(OSError), path.open("r+b") as stream:
            os.fsync(stream.fileno())
