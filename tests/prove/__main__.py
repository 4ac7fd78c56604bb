"""`make prove`: kill the program at random moments and at every step, and compare after each start.

The service is a process of its own, `cfbatch practice serve`; its record of accepted batches is the truth. Several
processes work side by side, each with data folders of its own. Exit status 0: nothing was found in the program as it
is, and each broken variant was caught.
"""

import argparse
import gc
import mmap
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process that forks must have no threads

from cfbatch_gui.core.system.paths import Paths
from tests.journeys.terminal import practice_service, read_until
from tests.prove import collecting, data_parts, judging, parts, power_proof, pushing, truth
from tests.prove.collecting_variants import ACCOUNT_VARIANTS
from tests.prove.compare import written_tokens
from tests.prove.leftovers import BROKEN
from tests.prove.mending import mend_damages
from tests.prove.parts import Bench
from tests.prove.power_trace import why_not
from tests.prove.report import Report
from tests.prove.variants import VARIANTS
from tests.prove.world import Service

PARTS = (
    *("random", "steps", "pushes", "collecting", "exports", "judging"),
    *("power", "answers", "results", "starts", "variants", "machine"),
)
ALL_PARTS = (*PARTS, "thorough")  # which takes longer than all the others together
SECONDS = 0.02  # for which a batch is queued, and then running
ACCOUNTS = 3  # at most, each with a runtime and a service of its own
STALL = 1.0  # seconds; longer than a submit's limit
MACHINE = Path(__file__).parent / "test_state_machine.py"


class Counter:
    """Counts the kills of several processes in shared memory."""

    def __init__(self, processes: int) -> None:
        self._memory = mmap.mmap(-1, 8 * processes)

    def add(self, process: int) -> None:
        """Count one more kill of a worker."""
        cell = slice(8 * process, 8 * process + 8)
        self._memory[cell] = (int.from_bytes(self._memory[cell], "little") + 1).to_bytes(8, "little")

    @property
    def total(self) -> int:
        """The current number of kills of all workers."""
        whole = self._memory[:]
        return sum(int.from_bytes(whole[start : start + 8], "little") for start in range(0, len(whole), 8))


def main() -> int:
    """Run the proof, print the report, and return the exit status."""
    asked = _parser().parse_args()
    asked.only = frozenset(asked.only or PARTS)
    reason = why_not() if "power" in asked.only else ""
    if reason:
        print(f"Power loss is left out. {reason}")  # noqa: T201
        asked.only -= {"power"}
    if "collecting" in asked.only and (reason := collecting.why_not()):
        print(f"Collecting in the account is left out. {reason}")  # noqa: T201
        asked.only -= {"collecting"}
    if asked.export_kills is None:
        asked.export_kills = asked.kills // 4
    folder = Path(tempfile.mkdtemp(prefix="cfbatch-prove-"))
    started = time.monotonic()
    machine = _machine(asked.examples, folder / "state machine") if "machine" in asked.only else None
    report = _prove(asked, folder) if asked.only - {"machine", "thorough"} else Report()
    report.seconds = time.monotonic() - started
    if asked.json:
        report.save(asked.json)
    print("\n".join(report.lines()))  # noqa: T201
    speed = report.kills / report.seconds
    print(f"\n{report.kills:,} kills in {report.seconds:.0f} s, {speed:.1f} a second; seed {asked.seed}.", flush=True)  # noqa: T201
    failed = 0
    if machine is not None:
        failed = machine.wait()
        print((folder / "state machine").read_text("utf-8"))  # noqa: T201
    failed += _thorough() if "thorough" in asked.only else 0
    if report.is_clean and not failed:
        parts.remove(folder)
        return 0
    print(f"The folders of what was found are in {folder}; child.log has the program's output.")  # noqa: T201
    return 1


def _prove(asked: argparse.Namespace, folder: Path) -> Report:
    with ExitStack() as stack:
        services = [stack.enter_context(_service(folder / f"stand-in {number}")) for number in range(2)]
        slow = stack.enter_context(_slow_service(folder / "slow stand-in"))
        learnt = truth.learn(services[0].url)
        counter = Counter(asked.workers)
        gc.collect()
        gc.freeze()  # children share these pages
        workers = []
        for number in range(asked.workers):
            count = partial(counter.add, number)
            bench = Bench(folder / f"worker {number}", services[number % 2], slow, learnt, count)
            workers.append(_begin(bench, asked, number))
        report = _gather(workers, counter)
    searched = report.part("searched for the token")
    searched.add("", written_tokens(folder))
    return report


def _begin(bench: Bench, asked: argparse.Namespace, number: int) -> tuple[int, Path]:
    """Start a worker process; its process id, and the path of its report."""
    bench.folder.mkdir()
    path = bench.folder / "report.json"
    process = os.fork()
    if process:
        return process, path
    status = 1
    try:
        for work in _share(bench, asked, number):
            work()
            bench.report.save(path)
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def _share(bench: Bench, asked: argparse.Namespace, number: int) -> Iterator[Callable[[], None]]:
    """The work of one worker: a share of each part. The first workers get the remainders."""
    share = slice(number, None, asked.workers)

    def of(whole: int, among: int = asked.workers) -> int:
        each, rest = divmod(whole, among)
        return each + (number < rest) if number < among else 0

    seed = asked.seed * 1000 + number
    yield partial(parts.run_undisturbed, bench)
    if "steps" in asked.only:
        yield partial(parts.kill_at_steps, bench, share, asked.every)
        yield partial(parts.kill_calls_at_steps, bench, share, asked.every)
        yield partial(parts.time_out, bench, share)
    if "exports" in asked.only:
        every = {"every": asked.every_export, "every_form": asked.every_form}
        yield partial(parts.kill_exports, bench, of(asked.export_kills), seed, share, **every)
        if number == 0:
            yield partial(parts.watch_order, bench)
    if "judging" in asked.only:
        yield partial(judging.kill_judging, bench, of(asked.judgement_kills), seed)
        if number == 0:
            yield partial(judging.catch_late_writing, bench, seed)
    if "power" in asked.only:
        yield partial(power_proof.examine, bench, share, seed, every=asked.every_place)
        for mutant in power_proof.chosen_mutants(asked.mutants)[share]:
            yield partial(power_proof.catch, bench, mutant, seed)
    if "variants" in asked.only:
        for variant in VARIANTS[:: asked.every_variant][share]:
            yield partial(parts.catch, bench, variant)
    if "answers" in asked.only:
        yield partial(data_parts.mix_up_answers, bench, of(asked.answers), seed)
        for broken in BROKEN[: asked.clients][share]:
            yield partial(data_parts.catch_mixed_up, bench, broken, seed)
    if "random" in asked.only:
        yield partial(parts.kill_at_random, bench, of(asked.kills), seed)
    if "pushes" in asked.only:
        yield partial(pushing.kill_pushes, bench, of(asked.push_kills), seed)
    if "collecting" in asked.only:
        among = min(ACCOUNTS, asked.workers)
        variants = ACCOUNT_VARIANTS[:: asked.every_variant][number::among] if number < among else ()
        yield partial(collecting.collect, bench, of(asked.collecting_rounds, among), seed, variants)
    if "results" in asked.only:
        yield partial(mend_damages, bench, of(asked.damages), seed)
    if "starts" in asked.only:
        yield partial(data_parts.start_damaged, bench, of(asked.starts), seed)


def _gather(workers: list[tuple[int, Path]], counter: Counter) -> Report:
    """Wait for all workers and merge their reports. Exits with an error if a worker failed."""
    report, failed = Report(), 0
    for process, path in workers:
        failed += bool(_wait(process, counter))
        if path.exists():
            report.take_in(Report.load(path))
    names = [*(variant.name for variant in VARIANTS), *data_parts.broken_clients()]
    names += [mutant.name for mutant in power_proof.chosen_mutants(0)]
    names += [judging.LATE, *(variant.name for variant in ACCOUNT_VARIANTS)]
    report.catches.sort(key=lambda catch: names.index(catch.variant))
    if failed:
        print("\n".join(report.lines()))  # noqa: T201
        sys.exit(f"{failed} of {len(workers)} workers failed; see above.")
    return report


def _wait(process: int, counter: Counter) -> int:
    """Wait for a worker and return its exit status. Meanwhile a terminal shows the number of kills."""
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K" if ended else f"\r{counter.total:,} kills")
            sys.stderr.flush()
        if ended:
            return status
        time.sleep(0.2)


def _machine(examples: int, output: Path) -> "subprocess.Popen[bytes]":
    """Begin to run the state machine with many examples, beside the other parts."""
    environ = {**os.environ, "PROVE_EXAMPLES": str(examples)}
    command = (sys.executable, "-m", "pytest", "-q", "--timeout=0", "-p", "no:cacheprovider", MACHINE)
    with output.open("wb") as stream:
        return subprocess.Popen(command, env=environ, stdout=stream, stderr=subprocess.STDOUT)


def _thorough() -> int:
    """Run the tests marked "thorough" with more examples than in `make test`; their exit status."""
    command = (sys.executable, "-m", "pytest", "-q", "--timeout=3600", "-n", "auto", "--dist", "loadscope")
    chosen = ("-m", "thorough", "--hypothesis-profile=thorough", "-p", "no:cacheprovider")
    return subprocess.run((*command, *chosen, MACHINE.parents[1]), check=False).returncode


@contextmanager
def _service(folder: Path) -> Iterator[Service]:
    with practice_service(folder, queued=SECONDS, running=SECONDS) as url:
        yield Service(url, Paths(folder).practice)


@contextmanager
def _slow_service(folder: Path) -> Iterator[Service]:
    """A service that accepts every submit and answers too late."""
    command = (sys.executable, "-m", "tests.support.faulty_service", folder, "--stall-submits", str(STALL))
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        url = next(word for word in read_until(process, "listens on").split() if word.startswith("http://"))
        yield Service(url, folder)
        process.kill()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.prove", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--kills", type=int, default=2000, help="at random moments (default: %(default)s)")
    parser.add_argument("--export-kills", type=int, help="at random moments of an export (default: a quarter of them)")
    parser.add_argument(
        "--judgement-kills", type=int, default=1000, help="while somebody judges (default: %(default)s)"
    )
    parser.add_argument(
        "--push-kills", type=int, default=2000, help="while versions are sent and pushed (default: %(default)s)"
    )
    parser.add_argument(
        "--collecting-rounds", type=int, default=200, help="while the account collects (default: %(default)s)"
    )
    parser.add_argument("--only", action="append", choices=ALL_PARTS, help="this part only; may be given several times")
    parser.add_argument(
        "--workers", type=int, default=3 * (os.cpu_count() or 1), help="processes side by side (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=time.time_ns() % 1_000_000, help="repeats the random choices of an earlier run"
    )
    parser.add_argument("--examples", type=int, default=400, help="runs of the state machine (default: %(default)s)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth step")
    parser.add_argument("--every-export", type=int, default=1, metavar="N", help="only every Nth step of an export")
    parser.add_argument("--every-form", type=int, default=1, metavar="N", help="only every Nth form of an export")
    parser.add_argument("--every-place", type=int, default=1, metavar="N", help="cut power at every Nth operation only")
    parser.add_argument("--mutants", type=int, default=0, metavar="N", help="the first N programs without a flush")
    parser.add_argument("--answers", type=int, default=100_000, help="that are mixed up (default: %(default)s)")
    parser.add_argument("--clients", type=int, default=len(BROKEN), metavar="N", help="the first N that take them")
    parser.add_argument("--damages", type=int, default=1_000, help="of stored results (default: %(default)s)")
    parser.add_argument("--starts", type=int, default=5_000, help="on damaged folders (default: %(default)s)")
    parser.add_argument("--every-variant", type=int, default=1, metavar="N", help="only every Nth broken variant")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
