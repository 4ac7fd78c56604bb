"""A push in a process of its own, for a test to kill: what it shows, a line for each step on standard output."""

import asyncio
import sys
from pathlib import Path

from cfbatch_gui.core.vectorize.push_values import PushProgress
from tests.core.vectorize.conftest import OPTIONS, Bench, unit_vectors

VECTORS, PART = 1_000, 100


def add_job(bench: Bench) -> None:
    """The job that is pushed."""
    bench.add("one", unit_vectors(VECTORS, 64))


def show(progress: PushProgress) -> None:
    """Print a step."""
    sys.stdout.write(f"{progress.stage} {progress.done}\n")
    sys.stdout.flush()


async def main() -> None:
    """Push the job in the folder of the first argument to the service at the second, to its end."""
    bench = Bench(Path(sys.argv[1]), sys.argv[2], most_vectors=PART)
    await bench.vectorize.push("one", "cloudflare", "products", OPTIONS, show=show)


if __name__ == "__main__":
    asyncio.run(main())
