"""`make prove`: kill the program at random moments and at every step, cut its power, and compare after each start.

The service is a process of its own; its record of accepted batches is the truth. Several processes work side by side,
each with data folders of its own. Exit status 0: nothing was found in the program as it is, and each mutant was caught.
"""

import argparse
import gc
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path

# A process that forks must have no threads.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

from tests.prove import account, compare, power
from tests.prove.compare import Report
from tests.prove.mutants import IN_THE_ACCOUNT, ORDER, Mutant, flush_mutants
from tests.prove.scenes import KINDS, ROWS, SCENES, Bench, catch
from tests.prove.world import Service
from tests.support.practice import service_process

# How many kills of a scene are made for each one of submitting and collecting; the others are at every step.
SHARES = {
    "random": 1.0,
    "exports": 0.25,
    "judging": 0.5,
    "reviewing": 0.25,
    "grouping": 0.1,
    "pushes": 0.5,
    "account": 0.1,
}
PARTS = (*SCENES, "account", "mutants")
SECONDS = 0.02  # for which a batch is queued, and then running
ACCOUNTS = 3  # at most, each with a runtime and a service of its own


def main() -> int:
    """Run the proof, print the report, and return the exit status."""
    asked = _parser().parse_args()
    asked.only = set(asked.only or PARTS)
    for part, reason in (("power", power.why_not()), ("account", account.why_not())):
        if reason and part in asked.only:
            print(f"“{part}” is left out. {reason}")  # noqa: T201
            asked.only.remove(part)
    folder = Path(tempfile.mkdtemp(prefix="cfbatch-prove-"))
    started = time.monotonic()
    report = _prove(asked, folder)
    print(f"{report} in {time.monotonic() - started:.0f} s; seed {asked.seed}.", flush=True)  # noqa: T201
    if report.is_clean:
        shutil.rmtree(folder, ignore_errors=True)
        return 0
    print(f"The folders of what was found are in {folder}; child.log has the program's output.")  # noqa: T201
    return 1


def _prove(asked: argparse.Namespace, folder: Path) -> Report:
    with ExitStack() as stack:
        services = [stack.enter_context(_service(folder / f"stand-in {number}")) for number in range(2)]
        compare.vectors()
        gc.collect()
        gc.freeze()  # children share these pages
        benches = []
        for number in range(asked.workers):
            place = folder / f"worker {number}", services[number % 2], asked.seed * 1000 + number
            benches.append(Bench(*place, number, asked.workers, asked.every))
        report = Report()
        with ProcessPoolExecutor(asked.workers, get_context("fork")) as workers:
            for part in workers.map(partial(_work, asked), benches):
                report.take_in(part)
    report.parts["searched for the token"].add("", compare.written_tokens(folder))
    return report


def _work(asked: argparse.Namespace, bench: Bench) -> Report:
    """The share of a worker process."""
    bench.folder.mkdir()
    for work in _share(bench, asked):
        work()
    return bench.report


def _share(bench: Bench, asked: argparse.Namespace) -> Iterator[Callable[[], None]]:
    """The work of one process: a share of each scene, and of the mutants."""
    yield partial(_run_undisturbed, bench)
    for name, scene in SCENES.items():
        if name in asked.only:
            yield partial(scene, bench, bench.count(round(SHARES.get(name, 0) * asked.kills)))
    if "mutants" in asked.only:
        mutants: list[Mutant] = [*ORDER, *(flush_mutants() if not power.why_not() else ())]
        yield from (partial(catch, bench, mutant) for mutant in bench.share(mutants))
    if "account" in asked.only:
        among = min(ACCOUNTS, asked.workers)
        rounds = bench.count(round(SHARES["account"] * asked.kills), among)
        own = IN_THE_ACCOUNT[:: asked.every][bench.number :: among] if bench.number < among else ()
        yield partial(account.collect, bench, rounds, own)


def _run_undisturbed(bench: Bench) -> None:
    """Assert that the program works when it is not killed, without which later findings would mean nothing."""
    for kind in KINDS:
        world = bench.world(0)
        status = world.start(world.new_job(kind, rows=ROWS, with_output=True))
        world.settle()
        assert status == 0 and not world.found, f"{world.found} {world.log.read_text()}"
        shutil.rmtree(world.root)


@contextmanager
def _service(folder: Path) -> Iterator[Service]:
    with service_process(folder, SECONDS) as url:
        yield Service(url, folder)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.prove", description=(__doc__ or "").split("\n\n")[1])
    add = parser.add_argument
    add("--kills", type=int, default=2000, help="at random moments; other scenes in proportion (default: %(default)s)")
    add("--only", action="append", choices=PARTS, help="this part; may be given several times")
    add("--workers", type=int, default=3 * (os.cpu_count() or 1), help="processes side by side (default: %(default)s)")
    add("--seed", type=int, default=time.time_ns() % 1_000_000, help="repeats the random choices of an earlier run")
    add("--every", type=int, default=1, metavar="N", help="only every Nth step, power cut and mutant")
    return parser


if __name__ == "__main__":
    sys.exit(main())
