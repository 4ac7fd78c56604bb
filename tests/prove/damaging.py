"""Starts on damaged data folders: bits, pages that are swapped or stale, zeros, files that are cut or are others'.

The program must start or say why not, send nothing that was sent, and lose nothing without a word about it.
"""

import asyncio
import os
import random
import shutil
import sqlite3
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.run import runner
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai.traffic import traffic
from tests.core.jobs import conftest
from tests.core.jobs.conftest import Bench
from tests.prove.child import put
from tests.prove.compare import Breach, Finding
from tests.prove.report import Part
from tests.prove.simulated import CountedTransport, Simulation, within
from tests.prove.truth import write_input
from tests.support import faults
from tests.support.faulty_service import FaultyService
from tests.support.practice import Accepted, accepted

PAGE = 4096
LEAVING, PATIENCE = 10.0, 120.0  # simulated seconds until the batches of a job have left, and until it is done
_FIRST = ("ledger.db", "submissions.jsonl", "folder.json")  # damaged in half of the starts
_UNCHANGED = frozenset({BatchState.QUEUED, BatchState.RUNNING, BatchState.COLLECTING, BatchState.DONE})
_OPEN = frozenset({BatchState.SENDING, BatchState.OUTCOME_UNKNOWN, BatchState.DISMISSED, BatchState.FAILED})


@dataclass(frozen=True)
class Base:
    """A data folder with jobs in every state, an older copy of it, and what the service has accepted from it."""

    folder: Path
    older: Path
    accepted: tuple[Accepted, ...]

    @property
    def hashes(self) -> dict[str, str]:
        """Request ids by the body's hash."""
        return {each.sha256: each.request_id for each in self.accepted}


class DamagedStarts:
    """Damages copies of one data folder, starts the program in each, and compares.

    `patch` sets an attribute of a module, for as long as this is in use.
    """

    def __init__(self, folder: Path, seed: int, patch: Callable[[Any, str, Any], None] = put) -> None:
        self._folder, self._rng = folder, random.Random(seed)
        patch(requests, "MAX_TEXTS_PER_BATCH", 20)
        patch(runner, "CLOSE_SECONDS", 0.05)
        patch(conftest, "Transport", CountedTransport)
        self._simulation = Simulation()
        self._clock = self._simulation.clock
        self._base = self._simulation.run(self._prepare())

    def close(self) -> None:
        """End the service."""
        self._simulation.run(self._faulty.__aexit__())
        self._simulation.close()

    def run(self, starts: int, part: Part) -> None:
        """So many starts, each on a folder with one to three damages."""
        for number in range(starts):
            root = self._folder / f"start {number}"
            shutil.copytree(self._base.folder, root)
            words = ", ".join(self._damage(root) for _ in range(self._rng.choice((1, 1, 1, 2, 3))))
            found = self._start(root)
            part.add(f"{words}; {root}", found)
            part.tried += 1
            if not found:
                shutil.rmtree(root)

    def harmless(self) -> list[Finding]:
        """A start on a folder that is not damaged, in which nothing must be found and nothing said."""
        root = self._folder / "undamaged"
        shutil.copytree(self._base.folder, root)
        return self._start(root, is_damaged=False)

    # The folder

    async def _prepare(self) -> Base:
        service = self._folder / "service"
        app = practice_app(service, seconds_queued=20.0, seconds_running=20.0, clock=self._clock.of_service)
        self._faulty = FaultyService(app, clock=self._clock)
        await self._faulty.__aenter__()
        root = self._folder / "base"
        bench = Bench(root / "data", self._faulty, self._clock, service_folder=service)
        await self._until_queued(bench, "done", Kind.RANK, 30)
        vectors = await self._until_queued(bench, "vectors", Kind.EMBED, 30)
        await self._clock.passes(PATIENCE)
        assert {job.state.value for job in bench.ledger.jobs()} == {"done"}, "the first jobs are done"
        queued = await self._until_queued(bench, "queued", Kind.RANK, 45)
        await bench.stop()
        older = self._folder / "older"
        shutil.copytree(root, older)
        bench.start()
        for words, fault in (
            ("unknown", faults.reset_after_body(on="submit", billed=True)),
            ("refused", faults.refusal(on="submit", status=400, code=5006, message="bad input")),
            ("unsent", faults.refuse(on="submit", times=0)),
        ):
            self._faulty.follow(fault)
            await self._sent(bench, words, 25)
        self._faulty.follow()
        cut_short = await self._until_queued(bench, "sending", Kind.RANK, 25)
        bench.drafts.create(Kind.RANK, "empty", "@cf/baai/bge-m3", "cloudflare")
        bench.drafts.delete(vectors.id)
        await bench.stop()
        with closing(Ledger.open(bench.paths)) as ledger:  # as if the program had ended in the middle of a submit
            ledger.save_batch(replace(cut_short.batches[0], state=BatchState.SENDING, request_id=""))
        assert len(queued.batches) == 3
        return Base(root, older, tuple(accepted(service)))

    async def _sent(self, bench: Bench, name: str, rows: int, kind: Kind = Kind.RANK) -> Job:
        path = write_input(self._folder / f"{name}.csv", kind, self._rng, rows=rows)
        job = bench.draft(path, kind, reuse=False)  # what is counted is batches
        await bench.actions.send(job.id)
        await self._clock.passes(LEAVING)
        return bench.ledger.job(job.id)

    async def _until_queued(self, bench: Bench, name: str, kind: Kind, rows: int) -> Job:
        job = await self._sent(bench, name, rows, kind)
        assert all(batch.state.is_at_service for batch in job.batches), [each.state for each in job.batches]
        return job

    # The damage

    def _damage(self, root: Path) -> str:
        """Damage one file; what was done."""
        files = sorted(path for path in root.rglob("*") if path.is_file())
        first = [path for path in files if path.name in _FIRST or path.suffix == ".jsonl"]
        path = self._rng.choice(first if self._rng.random() < 0.6 and first else files)
        how = self._rng.choice(_WAYS)
        how(self._rng, path, self._base.older / path.relative_to(root))
        return f"{path.relative_to(root)}: {how.__name__.strip('_')}"

    # The start

    def _start(self, root: Path, *, is_damaged: bool = True) -> list[Finding]:
        try:
            return list(self._simulation.run(self._started(root, is_damaged=is_damaged)))
        except Exception:
            return [Finding(Breach.STUCK, f"not an error with a sentence: {traceback.format_exc(limit=-4)}")]

    async def _started(self, root: Path, *, is_damaged: bool) -> list[Finding]:
        paths = Paths(root / "data", root / "state")
        with suppress(UserError):
            Ledger.open_read_only(paths).close()
        arrived = len(self._faulty.arrivals)
        try:
            bench = Bench(paths.root, self._faulty, self._clock, service_folder=self._folder / "service")
        except UserError as error:
            return [] if error.message else [Finding(Breach.STUCK, "an error without a sentence")]
        try:
            said = [*bench.opened.damage, *(job.paused_because for job in bench.opened.recovered)]
            said += [bench.opened.doubt.value] if bench.opened.doubt else []
            await within(self._clock, PATIENCE, bench.runner.resume_all(), UserError)
            await self._clock.passes(PATIENCE)
            found = [*self._sent_again(arrived), *self._unknown_to(bench.ledger.jobs(), said)]
            found += [] if is_damaged or not said else [Finding(Breach.MISLABELLED, f"said without damage: {said}")]
        finally:
            await bench.stop()
        if self._rng.random() < 0.1:  # takes as long as all the rest
            await self._open_program(paths.root)
        return found

    async def _open_program(self, root: Path) -> None:
        """The whole program, with its settings, lists and logs."""
        environ = {"CLOUDFLARE_API_BASE_URL": self._faulty.url}
        with suppress(UserError):
            program = await Program.open(root, environ=environ, clock=self._clock)
            for job in program.ledger.jobs():
                with suppress(UserError):
                    await asyncio.to_thread(program.examine, job.id)
            await asyncio.to_thread(traffic, program.paths.traffic)
            await program.close()

    def _sent_again(self, arrived: int) -> Iterator[Finding]:
        known = self._base.hashes
        for arrival in self._faulty.arrivals[arrived:]:
            if arrival.kind == "submit" and arrival.sha256 in known:
                yield Finding(Breach.DOUBLED, f"body {arrival.sha256[:8]} was sent again")

    def _unknown_to(self, jobs: tuple[Job, ...], said: list[str]) -> Iterator[Finding]:
        batches = [batch for job in jobs for batch in job.batches]
        ids = {each.request_id for each in accepted(self._folder / "service")}
        for batch in batches:
            if batch.request_id and batch.request_id not in ids:
                yield Finding(Breach.MISLABELLED, f"{_words(batch)} has an id that no batch was given")
        by_id = {batch.request_id for batch in batches if batch.state in _UNCHANGED}
        in_doubt = {batch.sha256 for batch in batches if batch.state in _OPEN}
        deleted = {each.request_id for each in self._base.accepted[2:4]}
        for each in self._base.accepted:
            is_known = each.request_id in by_id or each.sha256 in in_doubt or each.request_id in deleted
            if not is_known and not said:
                yield Finding(Breach.LOST, f"{each.request_id} is not known, and nothing was said")


def _words(batch: Batch) -> str:
    return f"batch {batch.job_id}/{batch.number}, {batch.state.value}"


def _flip_bits(rng: random.Random, path: Path, _: Path) -> None:
    data = bytearray(path.read_bytes())
    for _bit in range(rng.choice((1, 1, 3, 20)) if data else 0):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def _random_bytes(rng: random.Random, path: Path, _: Path) -> None:
    data = bytearray(path.read_bytes())
    at, length = rng.randrange(len(data) + 1), rng.randrange(1, 600)
    data[at : at + length] = rng.randbytes(length)
    path.write_bytes(data)


def _zero_page(rng: random.Random, path: Path, _: Path) -> None:
    data = bytearray(path.read_bytes())
    at = rng.randrange(len(data) // PAGE + 1) * PAGE
    data[at : at + PAGE] = bytes(len(data[at : at + PAGE]))
    path.write_bytes(data)


def _swap_pages(rng: random.Random, path: Path, _: Path) -> None:
    data = bytearray(path.read_bytes())
    one, other = (rng.randrange(max(1, len(data) // PAGE)) * PAGE for _ in range(2))
    first, second = data[one : one + PAGE], data[other : other + PAGE]
    if len(first) == len(second):
        data[one : one + PAGE], data[other : other + PAGE] = second, first
    path.write_bytes(data)


def _stale_page(rng: random.Random, path: Path, older: Path) -> None:
    """A page as it was in an older copy."""
    if not older.exists():
        return
    data, old = bytearray(path.read_bytes()), older.read_bytes()
    at = rng.randrange(len(old) // PAGE + 1) * PAGE
    data[at : at + PAGE] = old[at : at + PAGE]
    path.write_bytes(data)


def _older_file(_: random.Random, path: Path, older: Path) -> None:
    if older.exists():
        shutil.copyfile(older, path)


def _cut(rng: random.Random, path: Path, _: Path) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size + 1))


def _lengthen(rng: random.Random, path: Path, _: Path) -> None:
    path.write_bytes(path.read_bytes() + rng.choice((bytes(PAGE), rng.randbytes(300), b"\n", b"{")))


def _empty(_: random.Random, path: Path, __: Path) -> None:
    path.write_bytes(b"")


def _delete(_: random.Random, path: Path, __: Path) -> None:
    path.unlink()


def _another_file(rng: random.Random, path: Path, _: Path) -> None:
    others = sorted(each for each in path.parent.rglob("*") if each.is_file() and each != path)
    if others:
        shutil.copyfile(rng.choice(others), path)


def _another_database(_: random.Random, path: Path, __: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE jobs(name)")
        database.execute("PRAGMA user_version = 1")


def _a_folder(_: random.Random, path: Path, __: Path) -> None:
    path.unlink()
    path.mkdir()


def _deleted_row(rng: random.Random, path: Path, _: Path) -> None:
    """A row that is missing from a database that SQLite finds whole."""
    if path.suffix != ".db":
        return
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as database, database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if not tables:
            return
        table = rng.choice(tables)
        key = database.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchone()[0]
        rows = database.execute(f"SELECT {key} FROM {table}").fetchall()
        if rows:
            database.execute(f"DELETE FROM {table} WHERE {key} = ?", rng.choice(rows))


_WAYS: tuple[Callable[[random.Random, Path, Path], None], ...] = (
    *(_flip_bits, _flip_bits, _flip_bits, _random_bytes, _zero_page, _swap_pages, _stale_page, _stale_page),
    *(_older_file, _cut, _lengthen, _empty, _delete, _another_file, _another_database, _a_folder, _deleted_row),
)
