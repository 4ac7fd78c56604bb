"""The part "power" of the proof: every recorded run examined, and every flush that is left out caught."""

import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.prove.compare import Breach, Finding
from tests.prove.parts import Bench
from tests.prove.power import Cutting, Outcome, cut
from tests.prove.power_disk import Mark
from tests.prove.power_mutants import SKIPPED, Mutant, mutants
from tests.prove.power_record import CannotBeRecorded
from tests.prove.power_workloads import WORKLOADS, Workload
from tests.prove.report import Catch

MEMORY = Path("/dev/shm")  # writing and flushing there takes no time
RESUMED_EVERY = 150  # states


@dataclass(frozen=True, slots=True)
class Unit:
    """What one process does at a time: a part, of so many, of a workload."""

    workload: Workload
    index: int
    count: int


def units() -> list[Unit]:
    """The work, in about equal pieces."""
    return [Unit(workload, index, workload.size) for workload in WORKLOADS for index in range(workload.size)]


def examine(bench: Bench, share: slice, seed: int, *, every: int) -> None:
    """Examine the states behind each `every`-th operation of every recorded run."""
    with _in_memory(bench) as inner:
        whole = units() if every == 1 else [Unit(workload, 0, 1) for workload in WORKLOADS]
        for unit in whole[share]:
            with bench.timed(f"power cut: {unit.workload.name}") as part:
                outcome = Outcome()
                world = inner.world(seed)
                try:
                    cutting = cut(world, unit.workload, seed)
                    cutting.share, cutting.every = (unit.index, unit.count), every
                    cutting.resumed_every = RESUMED_EVERY
                    for _ in cutting.findings(outcome):
                        pass
                except CannotBeRecorded as error:
                    outcome.add(Finding(Breach.UNREACHED, f"{unit.workload.name}: {error}"), "the recording")
                world.remove()
                part.tried += outcome.states
                part.kills += outcome.resumed
                for breach, count in outcome.counts.items():
                    part.breaches[breach] = part.breaches.get(breach, 0) + count
                part.words += [f"{found.breach.value}: {found.words} ({how})" for found, how in outcome.found.values()]


def catch(bench: Bench, mutant: Mutant, seed: int) -> None:
    """Record and examine a program without one flush until something is found."""
    for found, where in _looks(bench, mutant, seed):
        bench.report.catches.append(Catch(mutant.name, where, found.breach.value, found.words))
        return
    bench.report.catches.append(Catch(mutant.name, "", ""))


def _looks(bench: Bench, mutant: Mutant, seed: int) -> Iterator[tuple[Finding, str]]:
    """Findings in the workloads in which the mutant differs: in few states of each first, then in all of them."""
    likely = [each for each in WORKLOADS if any(word in each.name for word in mutant.likely)]
    reached: list[Workload] = []
    with _in_memory(bench) as inner:
        for workload in (*likely, *(each for each in WORKLOADS if each not in likely)):
            cutting = _cut(inner, workload, mutant, seed)
            if cutting is not None:
                reached.append(workload)
                cutting.is_short = True
                yield from ((found, workload.name) for found in cutting.findings(Outcome()))
                cutting.world.remove()
        for workload in reached:
            cutting = _cut(inner, workload, mutant, seed + 1)
            if cutting is not None:
                yield from ((found, workload.name) for found in cutting.findings(Outcome()))
                cutting.world.remove()


def _cut(bench: Bench, workload: Workload, mutant: Mutant, seed: int) -> Cutting | None:
    """A recorded run of a mutant, None when it does not come by what is left out."""
    world = bench.world(seed)
    cutting = cut(world, workload, seed, mutant.install)
    if Mark(SKIPPED) in cutting.recording.operations:
        return cutting
    world.remove()
    return None


def chosen_mutants(count: int) -> list[Mutant]:
    """The first ones, or all for 0."""
    return mutants()[: count or None]


@contextmanager
def _in_memory(bench: Bench) -> Iterator[Bench]:
    """The bench with a folder whose files are in memory, where there is one."""
    folder = Path(tempfile.mkdtemp(prefix="cfbatch-power-", dir=MEMORY if MEMORY.is_dir() else bench.folder))
    try:
        logging.disable(logging.ERROR)  # damage is put aside with a warning, in many states
        yield replace(bench, folder=folder)
    finally:
        logging.disable(logging.NOTSET)
        shutil.rmtree(folder, ignore_errors=True)
