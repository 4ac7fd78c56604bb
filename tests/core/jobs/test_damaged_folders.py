"""Any bytes in a data folder: the program starts or says why not, sends nothing twice, and mends what can be mended."""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Kind, Split
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.run import runner
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.verifying import verify_job
from tests.core.jobs.conftest import Bench, Clock
from tests.prove.compare import write_input
from tests.support import faults
from tests.support.practice import accepted
from tests.thorough import tries

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(600)]
PAGE = 4096
FIRST = ("ledger.db", "submissions.jsonl", "folder.json")  # damaged more often than the others
KNOWN = frozenset({BatchState.QUEUED, BatchState.RUNNING, BatchState.COLLECTING, BatchState.DONE})
WAITING = frozenset({BatchState.PLANNED, BatchState.SENDING})
OPEN = frozenset({BatchState.SENDING, BatchState.OUTCOME_UNKNOWN, BatchState.DISMISSED, BatchState.FAILED})


def overwritten(rng: Random, path: Path, data: bytes, size: int) -> None:
    """Bytes put over others, at a multiple of `size`."""
    whole = bytearray(path.read_bytes())
    at = rng.randrange(len(whole) // size + 1) * size
    whole[at : at + len(data)] = data
    path.write_bytes(whole)


def bits(rng: Random, path: Path, _: Path) -> None:
    data = bytearray(path.read_bytes())
    for _bit in range(rng.choice((1, 1, 3, 20)) if data else 0):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def stale_page(rng: Random, path: Path, older: Path) -> None:
    if older.is_file():
        old = older.read_bytes()
        at = rng.randrange(len(old) // PAGE + 1) * PAGE
        whole = bytearray(path.read_bytes())
        whole[at : at + PAGE] = old[at : at + PAGE]
        path.write_bytes(whole)


def another_file(rng: Random, path: Path, _: Path) -> None:
    others = sorted(each for each in path.parent.rglob("*") if each.is_file() and each != path)
    if others:
        shutil.copyfile(rng.choice(others), path)


def a_folder(_: Random, path: Path, __: Path) -> None:
    path.unlink()
    path.mkdir()


def row_missing(rng: Random, path: Path, _: Path) -> None:
    """A row that is missing from a database that SQLite finds whole."""
    if path.suffix != ".db":
        return
    with suppress(sqlite3.Error, IndexError), closing(sqlite3.connect(path)) as database, database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = rng.choice(tables)
        key = database.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchone()[0]
        rows = database.execute(f"SELECT {key} FROM {table}").fetchall()
        database.execute(f"DELETE FROM {table} WHERE {key} = ?", rng.choice(rows))


WAYS: dict[str, Callable[[Random, Path, Path], Any]] = {
    "bits": bits,
    "random bytes": lambda rng, path, _: overwritten(rng, path, rng.randbytes(300), 1),
    "a page of zeros": lambda rng, path, _: overwritten(rng, path, bytes(PAGE), PAGE),
    "a page elsewhere": lambda rng, path, _: overwritten(rng, path, path.read_bytes()[:PAGE], PAGE),
    "a page of an older file": stale_page,
    "an older file": lambda _, path, older: older.is_file() and shutil.copyfile(older, path),
    "cut": lambda rng, path, _: os.truncate(path, rng.randrange(path.stat().st_size + 1)),
    "longer": lambda rng, path, _: path.write_bytes(path.read_bytes() + rng.choice((bytes(PAGE), b"\n", b"{"))),
    "empty": lambda _, path, __: path.write_bytes(b""),
    "gone": lambda _, path, __: path.unlink(),
    "another file": another_file,
    "a folder": a_folder,
    "a row missing": row_missing,
}


async def passes(clock: Clock, seconds: float) -> None:
    """Let the program go on for so many of its seconds, or until it waits for nothing."""
    until, before, idle = clock.now + seconds, clock.now, 0
    while clock.now < until and idle < 20:
        await asyncio.sleep(0.002)
        idle, before = (0 if clock.now != before else idle + 1), clock.now


async def prepared(bench: Bench, clock: Clock, folder: Path, rng: Random) -> set[str]:
    """Jobs in every state; `base` and an `older` copy of the folder. The ids of a job that the user has deleted."""
    folder.mkdir()

    async def sent(name: str, rows: int, kind: Kind = Kind.RANK) -> Job:
        job = bench.draft(write_input(folder / f"{name}.csv", kind, rng, rows=rows), kind, reuse=False)
        await bench.actions.send(job.id)
        await bench.until(lambda: not any(batch.state in WAITING for batch in bench.ledger.job(job.id).batches))
        return bench.ledger.job(job.id)

    await bench.runner.wait((await sent("done", 30)).id)
    vectors = await bench.runner.wait((await sent("vectors", 30, Kind.EMBED)).id)
    await sent("queued", 45)
    await bench.stop()
    copied(bench.paths.root.parent, folder / "older")
    bench.start()
    for name, fault in (
        ("unknown", faults.reset_after_body(on="submit", billed=True)),
        ("refused", faults.refusal(on="submit", status=400, code=5006, message="bad input")),
    ):
        bench.faulty.follow(fault)
        await sent(name, 25)
    bench.faulty.follow()
    cut_short = await sent("sending", 25)
    bench.drafts.create(Kind.RANK, "empty", "@cf/baai/bge-m3", "cloudflare")
    bench.drafts.delete(vectors.id)
    await bench.stop()
    with closing(Ledger.open(bench.paths)) as ledger:  # as if the program had ended in the middle of a submit
        ledger.save_batch(replace(ledger.job(cut_short.id).batches[0], state=BatchState.SENDING, request_id=""))
    copied(bench.paths.root.parent, folder / "base")
    return {batch.request_id for batch in vectors.batches}


def copied(parent: Path, target: Path) -> None:
    for name in ("data", "state"):
        if (parent / name).exists():
            shutil.copytree(parent / name, target / name)


def damage(root: Path, older: Path, rng: Random) -> str:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    first = [path for path in files if path.name in FIRST]
    path = rng.choice(first if rng.random() < 0.6 and first else files)
    name = rng.choice(list(WAYS))
    WAYS[name](rng, path, older / path.relative_to(root))
    return f"{path.relative_to(root)}: {name}"


async def found_after_start(root: Path, origin: Bench, clock: Clock, deleted: set[str]) -> list[str]:
    """What a start on a folder has lost without a word, mislabelled or sent again; and "…" for what it has said."""
    record, before = accepted(origin.service_folder), len(origin.faulty.submits)
    try:
        bench = Bench(root / "data", origin.faulty, clock, service_folder=origin.service_folder)
    except UserError as error:
        return ["…"] if error.message else ["an error without a sentence"]
    said = [*bench.opened.damage, *(job.paused_because for job in bench.opened.recovered)]
    said += ["it may be a copy"] if bench.opened.is_doubtful else []
    try:
        with suppress(UserError):
            await bench.runner.resume_all()
        await passes(clock, 120.0)
        batches = [batch for job in bench.ledger.jobs() for batch in job.batches]
    finally:
        await bench.stop()
    ids = {each.request_id for each in accepted(origin.service_folder)}
    known = deleted | {batch.request_id for batch in batches if batch.state in KNOWN}
    in_doubt = {batch.sha256 for batch in batches if batch.state in OPEN}
    again = {each.sha256 for each in origin.faulty.submits[before:]}
    return [
        *(f"{each.request_id}: an id that nobody was given" for each in batches if each.request_id not in {"", *ids}),
        *(f"{each.sha256[:8]} was sent again" for each in record if each.sha256 in again),
        *(
            f"{each.request_id} is not known, and nothing was said"
            for each in record
            if each.request_id not in known and each.sha256 not in in_doubt and not said
        ),
        *(["…"] if said else []),
    ]


async def test_a_damaged_data_folder_loses_nothing_without_a_word(
    bench: Bench, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 20)
    monkeypatch.setattr(runner, "CLOSE_SECONDS", 0.05)
    rng, root = Random(1), tmp_path / "start"
    deleted = await prepared(bench, clock, tmp_path / "made", rng)
    for number in range(tries(40, 5_000)):
        shutil.copytree(tmp_path / "made" / "base", root)
        ways = rng.choice((1, 1, 2, 3)) if number else 0  # the first one is not damaged
        words = [damage(root, tmp_path / "made" / "older", rng) for _ in range(ways)]
        found = await found_after_start(root, bench, clock, deleted)
        assert set(found) <= ({"…"} if words else set()), words
        shutil.rmtree(root)


# Results that are damaged, and mended from the answers that are kept

TABLES = ("items", "requests", "parts", "repeats", "queries", "texts", "batches")
IN_SQL = (
    "UPDATE requests SET state = 'waiting' WHERE request_no % ?1 = 0",
    "UPDATE requests SET state = 'failed', error = 'no' WHERE request_no % ?1 = 1",
    "UPDATE batches SET results = NULL WHERE batch % ?1 = 1",
    "UPDATE batches SET results = results + 1 WHERE batch % ?1 = 0",
    "UPDATE items SET score = score + 1e-12 WHERE score IS NOT NULL AND item_no % ?1 = 0",
    "UPDATE items SET score = NULL WHERE item_no % ?1 = 0",
    "UPDATE parts SET score = 0.5 WHERE score IS NOT NULL AND item_no % ?1 = 0",
    "DELETE FROM facts WHERE name = 'dimension' AND ?1",
)
OF_VECTORS = ("bits", "random bytes", "a page of zeros", "a page elsewhere", "cut", "longer", "gone")


async def finished(bench: Bench, folder: Path, form: str, rng: Random) -> tuple[JobFolder, Job]:
    kind, is_split = (Kind.RANK if "scores" in form else Kind.EMBED), "parts" in form
    path = write_input(folder / f"{form}.csv", kind, rng, rows=45)
    if is_split:
        text = path.read_text("utf-8").replace(".", ". " + " ".join(f"Sentence {n} is here." for n in range(40)))
        path.write_text(text, "utf-8")
    job = await bench.run(bench.draft(path, kind, split=Split(100, 10) if is_split else None))
    assert len(job.batches) > 1 and verify_job(bench.store.folder(job.id), job).is_whole
    return bench.store.folder(job.id), job


def contents(folder: JobFolder) -> list[Any]:
    """Every row of every table, and the vectors that count."""
    with folder.open(read_only=True) as database:
        held: list[Any] = [database.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in TABLES]
        done = database.execute("SELECT item_no FROM items JOIN requests USING(request_no) WHERE state = 'done'")
        rows = [item - 1 for (item,) in done]
    if folder.vectors.exists():
        held += [folder.vectors.stat().st_size, np.load(folder.vectors)[rows].tobytes()]
    return held


@pytest.mark.parametrize("form", ["scores", "scores of parts", "vectors", "vectors of parts"])
async def test_damaged_results_are_mended_bit_for_bit(
    bench: Bench, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 20)
    rng = Random(form)
    made, job = await finished(bench, tmp_path, form, rng)
    right = contents(made)
    for number in range(tries(10, 250)):
        folder = JobFolder(Path(shutil.copytree(made.path, tmp_path / f"copy {number}")))
        ways = rng.sample([*IN_SQL, *(OF_VECTORS if folder.vectors.exists() else ())], rng.randint(1, 3))
        for way in ways:
            if way in IN_SQL:
                with closing(sqlite3.connect(folder.data)) as database, database:
                    database.execute(way, (rng.randrange(2, 10),))
            elif folder.vectors.exists():
                WAYS[way](rng, folder.vectors, folder.vectors)
        check = verify_job(folder, job, mend=True)
        assert check.is_mended and contents(folder) == right, ways
        assert verify_job(folder, job).is_whole, ways
