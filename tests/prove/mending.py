"""Results damaged on the disk, and mended from the answers that are kept: as before bit for bit, or named by rows.

No process is killed here. Damage is done to a finished job's folder, the job is verified and mended, and every table
and every vector is compared with what it was.
"""

import json
import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.checksums import rows_of_items
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.verify import verifying
from cfbatch_gui.core.jobs.verify.job_check import JobCheck, Outcome
from cfbatch_gui.core.jobs.verify.verifying import verify_job
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.rankings import Rankings
from tests.prove.compare import Breach, Finding
from tests.prove.damages import DIMENSION, FORMS, Made, contents, damage_results, make
from tests.prove.parts import Bench


def healed(made: Made) -> list[Finding]:
    """What verifying with `mend` has not made as it was."""
    check = verify_job(made.folder, made.job, mend=True)
    after = contents(made.folder)
    wrong = [name for name in made.before if _differs(name, made.before[name], after[name])]
    if wrong:
        return [Finding(Breach.LOST, f"{wrong} not as before: {[each.sentence for each in check.findings]}")]
    if not check.is_mended or not verify_job(made.folder, made.job).is_whole:
        return [Finding(Breach.MISLABELLED, f"called damaged: {[each.sentence for each in check.findings]}")]
    return []


def _differs(name: str, before: list[Any], after: list[Any]) -> bool:
    if name == "facts":  # a stale copy has fewer, which are only for people
        return not set(after) >= {fact for fact in before if fact[0] in {"dimension", "checksums_are_complete"}}
    if name == "checksums":  # zeros at the end of a block are no checksums
        return [(*row[:2], row[2].rstrip(b"\0")) for row in before] != [
            (*row[:2], row[2].rstrip(b"\0")) for row in after
        ]
    return before != after


def damage_and_lose_answer(made: Made, rng: random.Random) -> list[Finding]:
    """Damage results of one batch whose answer is gone too, and of others; what was not named, or not taken out."""
    batch = rng.choice(made.job.batches).number
    with made.folder.open() as database:
        sent = [item for (item,) in database.execute(_DONE_ITEMS, (batch,))]
        if not sent:
            return []
        items = rng.sample(sent, min(len(sent), rng.randint(1, 3)))
        if made.job.kind is Kind.RANK:
            database.executemany("UPDATE items SET score = score + 0.25 WHERE item_no = ?", [(item,) for item in items])
            # A sum over a query tells no more than the query; all of its items in the batch are named.
            may_name = {item for (item,) in database.execute(_SAME_QUERY, (batch, json.dumps(items)))}
        else:
            may_name = set(items)
        wanted, allowed = set(rows_of_items(database, items)), set(rows_of_items(database, may_name))
    if made.job.kind is Kind.EMBED:
        _spoil_vectors(made.folder, items, rng)
    _spoil_answer(made.folder.reply(batch), rng)
    said = _said(made)
    with _refused() as was_refused:
        _read_all(made)
    check = verify_job(made.folder, made.job, mend=True)
    named = {row for found in check.findings if found.outcome is Outcome.LOST for row in found.rows}
    found = [] if was_refused else [Finding(Breach.WRONG, f"rows {sorted(wanted)} were read as if they were right")]
    if not wanted <= named <= allowed or said != named:
        found.append(Finding(Breach.MISLABELLED, f"named {sorted(named)}, {sorted(said)}, not {sorted(wanted)}"))
    return [*found, *_left(made, items)]


_DONE_ITEMS = """
SELECT item_no FROM items i JOIN requests USING(request_no) WHERE batch = ? AND state = 'done'
AND (query_no IS NULL OR score IS NOT NULL AND item_no NOT IN (SELECT item_no FROM parts)
    AND item_no NOT IN (SELECT item_no FROM repeats) AND item_no NOT IN (SELECT first FROM repeats))
"""
_SAME_QUERY = """
SELECT i.item_no FROM items i JOIN requests USING(request_no) WHERE batch = ? AND query_no IN (
    SELECT query_no FROM items WHERE item_no IN (SELECT value FROM json_each(?)))
"""


def _spoil_vectors(folder: JobFolder, items: Sequence[int], rng: random.Random) -> None:
    data = bytearray(folder.vectors.read_bytes())
    for item in items:
        data[128 + (item - 1) * DIMENSION * 4 + rng.randrange(DIMENSION * 4)] ^= 1 << rng.randrange(8)
    folder.vectors.write_bytes(data)


def _spoil_answer(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if rng.random() < 0.5:
        path.unlink()
        return
    data[rng.randrange(10, len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def _said(made: Made) -> set[int]:
    check: JobCheck = verify_job(made.folder, made.job)
    return {row for found in check.findings if found.outcome is Outcome.LOST for row in found.rows}


@contextmanager
def _refused() -> Iterator[list[str]]:
    refused: list[str] = []
    try:
        yield refused
    except DataError as error:
        refused.append(error.message)


def _read_all(made: Made) -> None:
    """As an export does."""
    if made.job.kind is Kind.RANK:
        for _ in Rankings(made.folder).blocks():
            pass
    else:
        embeddings = Embeddings(made.folder)
        for _ in embeddings.vector_blocks(embeddings.present(), 16):
            pass


def _left(made: Made, items: Sequence[int]) -> list[Finding]:
    """After mending: the damaged results are not there any more, and what is there is right."""
    with made.folder.open(read_only=True) as database:
        rows = database.execute("SELECT item_no, score, state FROM items JOIN requests USING(request_no)").fetchall()
    scores = {row[0]: row[6] for row in made.before["items"]}
    wrong = [item for item, score, state in rows if state == "done" and item in items]
    if made.job.kind is Kind.RANK:
        wrong += [item for item, score, _ in rows if score is not None and score != scores[item]]
    else:
        differs = (np.load(made.right).view("<u4") != np.load(made.folder.vectors).view("<u4")).any(axis=1)
        wrong += [item for item, _, state in rows if state == "done" and differs[item - 1]]
    found = [Finding(Breach.WRONG, f"items {wrong} stay as they were damaged")] if wrong else []
    with _refused() as was_refused:
        _read_all(made)
    return [*found, *(Finding(Breach.STUCK, message) for message in was_refused)]


def mend_damages(bench: Bench, count: int, seed: int) -> None:
    """Damage copies of finished jobs in `count` ways at random, mend them, and compare; then see that programs which do
    not mend would be found out.
    """
    rng = random.Random(seed)
    folder = bench.folder / "mending"
    with bench.timed("results damaged on the disk") as part:
        jobs = [make(folder / f"{form} {number}", form, rng) for form in FORMS for number in range(2)]
        for number in range(count):
            made = rng.choice(jobs).copied(folder / f"copy {number}")
            found = damage_once(made, rng)
            part.add(f"seed {seed}, {made.folder.path}", found)
            part.tried += 1
            if not found:
                shutil.rmtree(made.folder.path)
        for program, damage in ((mending_nothing, damage_once), (keeping_what_is_lost, damage_and_lose_answer)):
            with program():
                damaged = [jobs[-1].copied(folder / f"{program.__name__} {number}") for number in range(4)]
                if not any(damage(made, rng) for made in damaged):
                    part.add(program.__name__, [Finding(Breach.UNREACHED, "this broken program was not caught")])


def damage_once(made: Made, rng: random.Random) -> list[Finding]:
    """One damage; nine in ten can be mended."""
    if rng.random() < 0.1:
        return damage_and_lose_answer(made, rng)
    damage_results(made, rng)
    return healed(made)


@contextmanager
def mending_nothing() -> Iterator[None]:
    """A broken variant of the program: it says that it mends, and stores nothing."""
    with _put("store", lambda *arguments: None):
        yield


@contextmanager
def keeping_what_is_lost() -> Iterator[None]:
    """A broken variant that names what is lost and leaves it among the results."""
    with _put("forget_results", lambda *arguments, **named: 0):
        yield


@contextmanager
def _put(name: str, value: object) -> Iterator[None]:
    before = getattr(verifying, name)
    setattr(verifying, name, value)
    try:
        yield
    finally:
        setattr(verifying, name, before)
