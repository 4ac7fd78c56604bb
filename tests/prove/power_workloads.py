"""The runs of the program that are recorded. Each is made ready in a new world, recorded once, and then examined."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.run.job_actions import planned_batch
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.submissions import submissions
from cfbatch_gui.core.jobs.verify.verifying import verify_job
from cfbatch_gui.core.program import Program
from tests.prove import child
from tests.prove.compare import Breach, Finding
from tests.prove.power_check import Examination, Promises, bodies_of, results_of
from tests.prove.power_trace import mark
from tests.prove.steps import SUBMIT, SYNCHRONOUS
from tests.prove.truth import MODEL
from tests.prove.world import World

ROWS = 45  # three batches
FEW = 12  # one batch
OLD = b"An older file.\n"
RANKING_FORMS = ("csv", "beir", "trec")
VECTOR_FORMS = ("npy", "projector", "vectorize")

More = Callable[[Examination, Promises], Iterator[Finding]]


def no_more(_: Examination, __: Promises) -> Iterator[Finding]:
    """Nothing is compared beside what is always compared."""
    return iter(())


@dataclass
class Run:
    """A command that is ready to be recorded, and what is known of it.

    With `compares` all jobs are compared with the record of the service. `resumes`: whether the program can be run to
    its end from each state. `around` is entered in the process that examines the states, `prepare` called in the child.
    `deletable` has the job that the user deletes, by the hashes of its bodies. `at_end` is called in the examining
    process when the recorded run has ended.
    """

    command: child.Command
    prepare: child.Prepare = child.nothing
    around: Callable[[], AbstractContextManager[object]] = nullcontext
    compares: bool = True
    resumes: bool = True
    told_again: Counter[tuple[str, int]] = field(default_factory=Counter)
    deletable: dict[str, str] = field(default_factory=dict)
    more: More = no_more
    at_end: Callable[[], object] = child.nothing


@dataclass(frozen=True)
class Workload:
    """`make` makes a world ready. In `size` parts the states of one take about as long as those of another."""

    name: str
    make: Callable[[World], Run]
    size: int = 1


def _first_job(world: World) -> Run:
    return Run(world.new_job(Kind.RANK, rows=ROWS, with_output=True), more=_exports(world, {"job 1.csv": set()}))


def _vectors(world: World) -> Run:
    _start_once(world)
    return Run(world.new_job(Kind.EMBED, rows=ROWS))


def _synchronous(world: World) -> Run:
    _start_once(world)
    return Run(world.new_job(Kind.RANK, rows=FEW, synchronous=True))


def _synchronous_without_folders(world: World) -> Run:
    """A job as a backup brings it back, without its empty folders."""
    ended = world.start(
        world.new_job(Kind.RANK, rows=FEW, synchronous=True),
        prepare=lambda: SYNCHRONOUS[0].arm(),  # noqa: PLW0108
    )
    assert ended.was_killed, ended
    for path in world.paths.jobs.glob("*/*/"):
        path.rmdir()
    return Run(world.resume())


def _start_once(world: World) -> None:
    """A data folder in which the program was before."""
    ended = world.start(world.resume())
    assert ended.status == 0, ended


def _finished(world: World, kind: Kind, rows: int = ROWS) -> Job:
    """Run a job to its end."""
    before = {job.id for job in world.jobs()} if world.paths.ledger.exists() else set()
    ended = world.start(world.new_job(kind, rows=rows))
    (job,) = [job for job in world.jobs() if job.id not in before]
    assert ended.status == 0, ended
    return job


def _in_doubt(world: World) -> Batch:
    """A job whose first batch was accepted and its answer not seen."""
    step = next(step for step in SUBMIT if step.name == "answer read")
    ended = world.start(world.new_job(Kind.RANK, rows=ROWS), prepare=lambda: step.arm())  # noqa: PLW0108
    assert ended.was_killed, ended
    world.start(world.resume())
    (batch,) = [batch for job in world.jobs() for batch in job.batches if batch.state is BatchState.OUTCOME_UNKNOWN]
    return batch


def _sent_again(world: World) -> Run:
    batch = _in_doubt(world)
    command = child.decide(world.paths.root, batch.job_id, batch.number, "again")
    return Run(command, told_again=Counter({(batch.job_id, batch.number): 1}))


def _adopted(world: World) -> Run:
    batch = _in_doubt(world)
    (own,) = [each.request_id for each in world.accepted if each.sha256 == batch.sha256]
    return Run(child.decide(world.paths.root, batch.job_id, batch.number, "adopt", own))


def _recovered(world: World) -> Run:
    """A job of which two batches are at the service, and a damaged ledger."""
    step = next(step for step in SUBMIT if step.name == "queued committed")
    world.start(world.new_job(Kind.RANK, rows=ROWS), prepare=lambda: step.arm(2))
    (job,) = world.jobs()
    again = Counter({(job.id, batch.number): 9 for batch in job.batches})
    world.paths.ledger.write_bytes(world.rng.randbytes(world.paths.ledger.stat().st_size))
    return Run(world.resume(), told_again=again)


def _attached(world: World) -> Run:
    elsewhere = World(world.root.with_name(f"{world.root.name} elsewhere"), world.service, world.truth, world.rng)
    elsewhere.account = world.account
    (batch,) = _finished(elsewhere, Kind.RANK, FEW).batches
    _start_once(world)
    source = elsewhere.root / "job 1.csv"
    arguments = ("--connection", "cloudflare", "--model", MODEL, "--rank", "--input", source)
    command = child.cfbatch("attach", batch.request_id, *arguments, "--data-dir", world.paths.root)
    expected: list[tuple[object, ...]] = []

    def more(examination: Examination, promises: Promises) -> Iterator[Finding]:
        with closing(Ledger.open_read_only(world.paths)) as opened:
            jobs = {job.id: job for job in opened.jobs()}
        for job_id in promises.attached:
            found = [each.request_id for each in jobs[job_id].batches] if job_id in jobs else []
            if found != [batch.request_id]:
                yield Finding(Breach.LOST, "a job that was attached does not know its id")
            if batch.request_id not in {each.request_id for each in submissions(world.paths.submissions)}:
                yield Finding(Breach.LOST, "the id of an attached job is not in submissions.jsonl")
        for job in jobs.values():
            expected[:] = expected or examination.results[job.id]
            if job.batches_done and results_of(world, job.id) != expected:
                yield Finding(Breach.WRONG, "an attached job is done, and its results are not those of its answer")

    return Run(command, compares=False, more=more)


def _duplicated(world: World) -> Run:
    job = _finished(world, Kind.EMBED)
    expected: list[bytes] = []

    def bodies() -> list[bytes]:
        """What the copy would send; nothing while there is none."""
        with closing(Ledger.open_read_only(world.paths)) as opened:
            drafts = [each for each in opened.jobs() if each.name == "Copy" and each.source_name]
        return [body for draft in drafts for body in _planned_bodies(world, draft)]

    def more(_: Examination, __: Promises) -> Iterator[Finding]:
        if bodies() not in ([], expected):
            yield Finding(Breach.WRONG, "a copy of a job would send other texts")

    def at_end() -> None:
        expected[:] = bodies()

    return Run(lambda: asyncio.run(_duplicate(world.paths.root, job.id)), resumes=False, more=more, at_end=at_end)


def _planned_bodies(world: World, draft: Job) -> list[bytes]:
    folder = JobFolder(world.paths.job(draft.id))
    plan = packing.plan(folder, draft)
    planned = replace(draft, batches=tuple(planned_batch(draft.id, each, 0.0) for each in plan.batches))
    with closing(packing.bodies_of(folder, planned, [each.number for each in plan.batches])) as bodies:
        return list(bodies)


async def _duplicate(root: Path, job_id: str) -> int:
    program = await Program.open(root, environ=os.environ)
    program.drafts.duplicate(job_id, "Copy")
    await program.close()
    return 0


def _mended(world: World) -> Run:
    """A finished job whose vectors are cut short, and are put right from its answers."""
    job = _finished(world, Kind.EMBED)
    folder = JobFolder(world.paths.job(job.id))
    with folder.vectors.open("r+b") as stream:
        stream.truncate(1000)

    def command() -> int:
        verify_job(folder, job, mend=True)
        mark(json.dumps({"mended": job.id}))
        return 0

    def more(examination: Examination, promises: Promises) -> Iterator[Finding]:
        if not promises.mended:
            verify_job(folder, job, mend=True)
        yield from examination.comparison({job.id: job}, promises).run(settled=False)

    return Run(command, compares=False, resumes=False, more=more)


def _deleted(world: World) -> Run:
    kept, gone = _finished(world, Kind.RANK, FEW), _finished(world, Kind.RANK, ROWS)
    assert kept.id != gone.id
    return Run(lambda: asyncio.run(_delete(world.paths.root, gone.id)), deletable=bodies_of(world, gone), resumes=False)


async def _delete(root: Path, job_id: str) -> int:
    """Delete a job, end the program, and start it again, which removes the job's folder."""
    for is_first in (True, False):
        program = await Program.open(root, environ=os.environ)
        if is_first:
            program.drafts.delete(job_id)
        await program.close()
    return 0


def _exported(kind: Kind, forms: tuple[str, ...]) -> Callable[[World], Run]:
    def make(world: World) -> Run:
        job = _finished(world, kind)
        suffixes = {form: f".{form}" if form in ("csv", "trec", "npy") else "" for form in forms}
        mains = {f"{when}-{form}{suffix}": set[str]() for when in ("new", "old") for form, suffix in suffixes.items()}
        to = [word for main in mains for word in ("--to", main.split("-")[1].split(".")[0], world.out / main)]
        command = child.cfbatch("export", job.id, *to, "--data-dir", world.paths.root)
        ended = world.start(command)
        assert ended.status == 0, (world.root / "child.log").read_text()
        for path in sorted(path for path in world.out.rglob("*") if path.is_file()):
            name = path.relative_to(world.out).as_posix()
            if name.startswith("old"):
                path.write_bytes(OLD)
            else:
                path.unlink()
        for path in [path for path in world.out.iterdir() if path.is_dir() and path.name.startswith("new")]:
            for folder in sorted((each for each in path.rglob("*") if each.is_dir()), reverse=True):
                folder.rmdir()
            path.rmdir()
        return Run(command, resumes=False, more=_exports(world, mains))

    return make


def _exports(world: World, mains: dict[str, set[str]]) -> More:
    """Findings for exported files that are neither old nor new, or not those that their manifest speaks of."""

    def more(examination: Examination, promises: Promises) -> Iterator[Finding]:
        for main in mains:
            stem = f"out/{main.partition('.')[0]}"
            before, after = (
                {name: content for name, content in tree.items() if name.startswith(stem) and content is not None}
                for tree in (examination.before, examination.after)
            )
            names = before.keys() | after.keys()
            now = {name: path.read_bytes() for name in names if (path := world.root / name).exists()}
            for name in names:
                if now.get(name) not in (before.get(name), after.get(name), None):
                    yield Finding(Breach.TORN, f"{name} is neither the old nor the new file")
                if name not in now and name in before and name in after and not name.endswith(".manifest.json"):
                    yield Finding(Breach.TORN, f"{name} is gone, neither old nor new")
            manifest = f"out/{main}.manifest.json"
            of_manifest = after if now.get(manifest) == after.get(manifest) else before
            if manifest in now and any(now.get(name) != of_manifest.get(name) for name in names):
                yield Finding(Breach.TORN, f"{manifest} stands beside files that it does not speak of")
            if str(world.out / main) in promises.written and now != after:
                missing = sorted(name for name in names if now.get(name) != after.get(name))
                yield Finding(Breach.LOST, f"{main} was reported as written, and {missing} are not there")

    return more


WORKLOADS = (
    Workload("first start, submit, collect, export: scores", _first_job, 5),
    Workload("submit and collect: vectors", _vectors, 3),
    Workload("synchronous calls", _synchronous, 3),
    Workload("synchronous calls without folders", _synchronous_without_folders),
    Workload("duplicate a job", _duplicated),
    Workload("mend vectors", _mended),
    Workload("send again", _sent_again),
    Workload("adopt", _adopted),
    Workload("attach", _attached),
    Workload("delete, and clear at the next start", _deleted),
    Workload("put together after a damaged ledger", _recovered, 2),
    Workload("export a ranking", _exported(Kind.RANK, RANKING_FORMS)),
    Workload("export vectors", _exported(Kind.EMBED, VECTOR_FORMS), 2),
)
