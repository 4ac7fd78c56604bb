"""Kills over a file's versions: sent and taken from the version before, then put into an index of Vectorize.

A world has one index. Each round is a new version of its file: some texts are changed, some are new, some are gone.
`cfbatch run` and `cfbatch vectorize push` are killed at random moments until both have come to their end; then the
index must hold exactly the job's ids, with the job's vectors, and these must be those of their texts.
"""

import random

import numpy as np

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.results.embeddings import Embeddings
from tests.prove import child
from tests.prove.child import Command
from tests.prove.compare import Breach, Finding
from tests.prove.parts import Bench
from tests.prove.truth import TEXTS, command_of
from tests.prove.world import World
from tests.support.practice import stored_vectors

INDEX = "shop"
VERSIONS = 4  # of one file, in one world
_MOST_TRIES = 40  # starts until a command has come to its end

Rows = dict[str, str]  # texts by id


def kill_pushes(bench: Bench, kills: int, seed: int) -> None:
    """Until so many kills were made."""
    span = 0.4  # seconds; as in `kill_at_random`
    with bench.timed("while versions are sent and pushed") as part:
        while part.kills < kills:
            world_seed = seed * 1_000_003 + bench.worlds
            world = bench.world(world_seed)
            found: list[Finding] = []
            rows: Rows = {}
            for number in range(VERSIONS):
                rows = _next_version(rows, world.rng)
                span = _version(world, rows, number, span, found)
                if found:
                    break
            part.add(f"seed {world_seed}, {world.root}", found)
            bench.keep_or_remove(world, part, found=bool(found))


def _next_version(rows: Rows, rng: random.Random) -> Rows:
    """Some ids have another text, some are gone, some are new."""
    after = dict(rows)
    for identifier in rng.sample(sorted(after), len(after) // 4):
        after[identifier] = rng.choice(TEXTS)
    for identifier in rng.sample(sorted(after), len(after) // 5):
        del after[identifier]
    new = rng.randint(8, 30)
    after |= {f"R{rng.randrange(10_000):04}": rng.choice(TEXTS) for _ in range(new)}
    return after


def _version(world: World, rows: Rows, number: int, span: float, found: list[Finding]) -> float:
    """Send one version and push it, killed again and again; the time after which the next one is killed at most."""
    name = f"version {number}"
    path = world.root / f"{name}.csv"
    path.write_text("id,text\n" + "".join(f"{key},{text}\n" for key, text in rows.items()), encoding="utf-8")
    run = child.cfbatch(*command_of(path, Kind.EMBED, name), "--data-dir", world.paths.root)
    span *= 1.02 if world.start(run, kill_after=world.rng.uniform(0, span)).was_killed else 0.95
    found += world.look()
    found += world.settle()
    job = _finished(world, name, run, found)
    if job is None:
        return span
    span = _push(world, job, span, found)
    if not found:
        found += compare(world, job, rows)
    return span


def _finished(world: World, name: str, run: Command, found: list[Finding]) -> Job | None:
    """The job of this version, done; None after a finding, or when what was decided about it cannot be mended."""
    for _ in range(_MOST_TRIES):
        job = next((job for job in world.jobs() if job.name == name and job.is_sent), None)
        if found or (job is not None and job.state is JobState.DONE):
            return None if found else job
        if job is None:  # killed as a draft, of which nothing has left
            world.start(run)
        elif (decision := world.decision()) is not None:
            world.start(decision)
        else:
            world.start(child.cfbatch("resume", job.id, "--failed", "--data-dir", world.paths.root))
        found += world.settle()
    return None


def _push(world: World, job: Job, span: float, found: list[Finding]) -> float:
    arguments = ("vectorize", "push", job.id, "--index", INDEX, "--create", "--delete-removed")
    command = child.cfbatch(*arguments, "--connection", "cloudflare", "--data-dir", world.paths.root)
    for turn in range(_MOST_TRIES):
        kill_after = world.rng.uniform(0, span) if turn < _MOST_TRIES // 2 and world.rng.random() < 0.7 else None
        ended = world.start(command, kill_after=kill_after)
        span *= 1.02 if ended.was_killed else 0.97
        if ended.status == 0:
            return span
        if not ended.was_killed and turn > _MOST_TRIES // 2:
            break
    found.append(Finding(Breach.STUCK, f"the push of {job.name} did not come to an end"))
    return span


def compare(world: World, job: Job, rows: Rows) -> list[Finding]:
    """The index beside the job, and the job beside what its texts are."""
    embeddings = Embeddings(JobFolder(world.paths.job(job.id)))
    vectors = embeddings.vectors()
    ours = {text.id: (text.text, vectors[text.item_no - 1]) for text in embeddings.page(0, embeddings.count)}
    found = []
    if {key: text for key, (text, _) in ours.items()} != rows:
        found.append(Finding(Breach.WRONG, f"{job.name} has other texts than its file"))
    found += [
        Finding(Breach.WRONG, f"{job.name}: the vector of “{text}” is another's")
        for text, vector in ours.values()
        if not world.truth.is_vector(text, vector)
    ]
    index = _index(world)
    found += [Finding(Breach.LOST, f"{key} is not in the index") for key in ours.keys() - index.keys()]
    found += [Finding(Breach.DOUBLED, f"{key} is still in the index") for key in index.keys() - ours.keys()]
    found += [
        Finding(Breach.WRONG, f"{key} has another vector in the index")
        for key in ours.keys() & index.keys()
        if not np.array_equal(ours[key][1], index[key])
    ]
    return found


def _index(world: World) -> dict[str, "np.ndarray[tuple[int], np.dtype[np.float32]]"]:
    found = stored_vectors(world.service.folder, world.account, INDEX)
    return {identifier: np.frombuffer(numbers, "<f4") for identifier, numbers in found.items()}
