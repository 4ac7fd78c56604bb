"""Kills while the ledger is migrated to a newer version, by a migration that exists only in these child processes."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store import ledger_tables
from cfbatch_gui.core.jobs.store.ledger import Ledger
from tests.prove.child import put
from tests.prove.compare import Breach, Finding
from tests.prove.steps import Hit, Step, after_call, before_call
from tests.prove.world import World

JOBS = 60
OLD_VERSION = ledger_tables.VERSION
NEW_VERSION = OLD_VERSION + 1


def register() -> None:
    """Register a new version, whose migration writes every job once."""
    ledger_tables.VERSION = NEW_VERSION
    ledger_tables.MIGRATIONS[NEW_VERSION] = _migrate


def _migrate(database: sqlite3.Connection) -> None:
    database.execute("CREATE TABLE seen(id TEXT PRIMARY KEY)")
    ids = [row[0] for row in database.execute("SELECT id FROM jobs ORDER BY id").fetchall()]
    for number, job_id in enumerate(ids):
        database.execute("INSERT INTO seen VALUES(?)", (job_id,))
        if number == len(ids) // 2:
            halfway()
    migrated()


def halfway() -> None:
    """Called in the middle of the migration, so that a step can be placed there."""


def migrated() -> None:
    """Called at the end of the migration, so that a step can be placed there."""


def _copy_half_made(hit: Hit) -> None:
    copy = shutil.copy2

    def half(source: Any, target: Any, **_: Any) -> Any:
        content = source.read_bytes()
        target.write_bytes(content[: len(content) // 2])
        hit()
        return copy(source, target)

    put(shutil, "copy2", half)


def steps() -> tuple[Step, ...]:
    """The steps of a migration, in order."""
    here = __import__(__name__, fromlist=["halfway"])
    return (
        Step("before the copy", before_call(shutil, "copy2")),
        Step("copy half made", _copy_half_made),
        Step("copy made", after_call(shutil, "copy2")),
        Step("mid-migration", after_call(here, "halfway")),
        Step("migrated, not committed", after_call(here, "migrated")),
        Step("committed", after_call(ledger_tables, "prepare")),
    )


def fill(world: World) -> None:
    """Create a ledger of the old version with some jobs."""
    world.paths.create()
    with closing(Ledger.open(world.paths)) as opened:
        for number in range(JOBS):
            job = Job(f"job{number:05}", f"job {number}", Kind.RANK, "@cf/baai/bge-m3", "cloudflare", float(number))
            batch = Batch(job.id, 1, BatchState.DISMISSED, 1, 1, 1, request_id=f"id {number}", error="word " * 200)
            opened.save_plan(replace(job, is_sent=True, finished_at=1.0), [batch])


def look(world: World, before: tuple[Job, ...]) -> list[Finding]:
    """Findings after the next start: it must leave the new version, unchanged jobs and a complete copy of the old."""
    ended = world.start(world.resume(), prepare=register)
    found = []
    if ended.status != 0:
        found.append(Finding(Breach.STUCK, f"after a killed migration the program ends with {ended.status}"))
    version, seen = _ask(world, "PRAGMA user_version"), _ask(world, "SELECT count(*) FROM seen")
    if (version, seen) != (NEW_VERSION, JOBS) or _jobs(world) != before:
        found.append(Finding(Breach.LOST, f"version {version}, {seen} of {JOBS} jobs lifted"))
    copy = world.paths.ledger.with_name(f"{world.paths.ledger.name}.before-{NEW_VERSION}")
    if not copy.exists():
        return [*found, Finding(Breach.LOST, "no copy was made before the migration")]
    copy.replace(world.paths.ledger)
    if _ask(world, "PRAGMA user_version") != OLD_VERSION or _jobs(world) != before:
        found.append(Finding(Breach.LOST, "the copy made before the migration is not whole"))
    return found


def kill_at(world: World, step: Step) -> list[Finding]:
    """Run a migration, kill it at a step, start again, and compare."""
    fill(world)
    before = _jobs(world)

    def both() -> None:
        register()
        step.arm()

    ended = world.start(world.resume(), prepare=both)
    unreached = [] if ended.was_killed else [Finding(Breach.UNREACHED, f"never came to “{step.name}”")]
    return [*unreached, *look(world, before)]


def _jobs(world: World) -> tuple[Job, ...]:
    """All jobs by their ids, of a ledger of either version."""
    with closing(sqlite3.connect(world.paths.ledger)) as database:
        return tuple(job for _, job in sorted(ledger_tables.load(database).items()))


def _ask(world: World, question: str) -> object:
    with closing(sqlite3.connect(world.paths.ledger)) as database:
        try:
            return database.execute(question).fetchone()[0]
        except sqlite3.Error as error:
            return str(error)
