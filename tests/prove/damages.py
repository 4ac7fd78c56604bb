"""Finished jobs whose answers are known, and ways to damage their results on the disk."""

import json
import random
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Split
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.run.collecting import collect, keep_reply
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.verify.verifying import verify_job
from cfbatch_gui.core.workers_ai.answers import Finished, read_answer
from cfbatch_gui.core.workers_ai.catalogue import find_model
from tests.bodies import body_of

DIMENSION = 48
FORMS = ("scores", "scores of parts", "vectors", "vectors of parts")
TABLES = ("items", "requests", "parts", "repeats", "queries", "texts", "facts", "checksums", "replies")
ROOM = {False: 900, True: 4_000}  # bytes of a body, without and with long texts: so that there are several batches


@dataclass
class Made:
    """A finished job, and its folder as it was before its last batch was stored."""

    folder: JobFolder
    job: Job
    stale: Path
    right: Path
    before: dict[str, list[Any]] = field(default_factory=dict)

    def copied(self, path: Path) -> "Made":
        """The same in another folder, to be damaged."""
        shutil.copytree(self.folder.path, path)
        return replace(self, folder=JobFolder(path))


def make(path: Path, form: str, rng: random.Random) -> Made:
    """Fill, plan and collect a job of several batches; half of the jobs have answers that name their requests."""
    kind = Kind.RANK if form.startswith("scores") else Kind.EMBED
    path.mkdir(parents=True)
    file = path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in _rows(kind, rng, with_long="parts" in form)))
    source = open_source(file)
    folder = JobFolder(path / "job")
    mapping = suggest_mapping(source, kind, preview(source))
    fill(folder, source, replace(mapping, split=Split(100, 10) if "parts" in form else None))
    job = Job(f"made{rng.randrange(10**6)}", form, kind, "@cf/baai/bge-m3", "practice", 0.0, is_sent=True)
    plan = packing.plan(
        folder, job, replace(find_model(job.model), body_bytes=ROOM["parts" in form], texts_per_request=9)
    )
    job = replace(job, batches=tuple(_done(folder, job, planned) for planned in plan.batches), source_name="rows.jsonl")
    is_named = rng.random() < 0.5
    stale = path / "stale.db"
    for batch in job.batches:
        shutil.copyfile(folder.data, stale)
        raw = answer_to(body_of(folder, job, batch.number), rng, is_named=is_named)
        keep_reply(folder, batch.number, raw)
        finished = read_answer(raw)
        assert isinstance(finished, Finished)
        collect(folder, kind, batch.number, finished)
    made = Made(folder, job, stale, folder.vectors)
    made.before = contents(folder)
    assert len(job.batches) > 2, len(job.batches)
    assert verify_job(folder, job).is_whole, verify_job(folder, job)
    return made


def _rows(kind: Kind, rng: random.Random, *, with_long: bool) -> Iterator[dict[str, str]]:
    for number in range(90):
        text = f"text {rng.randrange(60)} {'word ' * 4}"  # some come again
        if with_long and rng.random() < 0.2:
            text = " ".join(f"Sentence number {each} of {number} is here." for each in range(rng.randint(20, 60)))
        yield {"query": f"query {number // 9}", "text": text} if kind is Kind.RANK else {"text": text}


def _done(folder: JobFolder, job: Job, planned: packing.PlannedBatch) -> Batch:
    body = body_of(folder, job, planned.number)
    batch = Batch(job.id, planned.number, BatchState.DONE, planned.requests, planned.texts, planned.bytes)
    return replace(batch, sha256=sha256(body).hexdigest(), request_id=f"request-{planned.number}")


def answer_to(body: bytes, rng: random.Random, *, is_named: bool) -> bytes:
    """An answer with other numbers for each text. A few requests are refused."""
    elements = []
    for index, request in enumerate(json.loads(body)["requests"]):
        element: dict[str, Any] = {"id": index, "success": True}
        if is_named:
            element["external_reference"] = request["external_reference"]
        if "contexts" in request:
            scores = [{"id": place, "score": rng.random()} for place in range(len(request["contexts"]))]
            element["result"] = {"response": scores}
        else:
            vectors = [[rng.gauss(0, 1) for _ in range(DIMENSION)] for _ in request["text"]]
            element["result"] = {"data": vectors, "shape": [len(vectors), DIMENSION], "pooling": "cls"}
        if rng.random() < 0.1 and index:
            element |= {"success": False, "result": None, "error": "too long"}
        elements.append(element)
    rng.shuffle(elements)
    return json.dumps({"responses": elements}).encode()


def contents(folder: JobFolder) -> dict[str, list[Any]]:
    """Every row of every table, and the vectors."""
    with folder.open(read_only=True) as database:
        held = {table: database.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in TABLES}
        done = database.execute("SELECT item_no FROM items JOIN requests USING(request_no) WHERE state = 'done'")
        rows = [item - 1 for (item,) in done]
    if folder.vectors.exists():
        held["vectors"] = [folder.vectors.stat().st_size, np.load(folder.vectors)[rows].tobytes()]
    return held


def flip_bit(made: Made, rng: random.Random) -> None:
    data = bytearray(made.folder.vectors.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    made.folder.vectors.write_bytes(data)


def zero_page(made: Made, rng: random.Random) -> None:
    data = bytearray(made.folder.vectors.read_bytes())
    start = rng.randrange(0, len(data), 512)
    data[start : start + 512] = bytes(len(data[start : start + 512]))
    made.folder.vectors.write_bytes(data)


def cut_short(made: Made, rng: random.Random) -> None:
    data = made.folder.vectors.read_bytes()
    made.folder.vectors.write_bytes(data[: rng.randrange(len(data))])


def lengthen(made: Made, rng: random.Random) -> None:
    with made.folder.vectors.open("ab") as stream:
        stream.write(rng.randbytes(rng.randint(1, 5_000)))


def swap_blocks(made: Made, rng: random.Random) -> None:
    data = bytearray(made.folder.vectors.read_bytes())
    size, row = rng.choice((1, 3)), DIMENSION * 4
    one, other = rng.sample(range(0, (len(data) - 128) // row - size, size), 2)
    first, second = (slice(128 + at * row, 128 + (at + size) * row) for at in (one, other))
    data[first], data[second] = data[second], data[first]
    made.folder.vectors.write_bytes(data)


def remove_vectors(made: Made, rng: random.Random) -> None:
    made.folder.vectors.unlink()


def in_sql(statement: str, made: Made, rng: random.Random) -> None:
    """`?1` is a random number, `?2` a random fraction."""
    with closing(sqlite3.connect(made.folder.data)) as database, database:
        database.execute(f"{statement} AND ?1 > 0 AND ?2 >= 0", (rng.randrange(2, 10), rng.random()))


def score_bytes(made: Made, rng: random.Random) -> None:
    """A score as it stands in the file, 8 bytes in SQLite's order."""
    with made.folder.open(read_only=True) as database:
        (score,) = rng.choice(database.execute("SELECT score FROM items WHERE typeof(score) = 'real'").fetchall())
    data = bytearray(made.folder.data.read_bytes())
    at = data.index(struct.pack(">d", score))
    data[at + rng.randrange(3, 8)] ^= 1 << rng.randrange(8)
    made.folder.data.write_bytes(data)


def put_stale_data_back(made: Made, rng: random.Random) -> None:
    shutil.copyfile(made.stale, made.folder.data)


_BOTH: tuple[Callable[[Made, random.Random], None], ...] = (
    *(
        partial(in_sql, statement)
        for statement in (
            "UPDATE requests SET state = 'waiting' WHERE request_no % ?1 = 0",
            "UPDATE requests SET state = 'failed', error = 'no' WHERE request_no % ?1 = 1",
            "UPDATE requests SET state = 'done' WHERE state = 'failed'",
            "DELETE FROM checksums WHERE 1",
            "UPDATE checksums SET sums = substr(sums, 1, 8 * (?1 - 1)) WHERE 1",
            "UPDATE checksums SET sums = zeroblob(length(sums)) WHERE 1",
            "DELETE FROM replies WHERE batch % ?1 = 1",
            "UPDATE replies SET checksum = checksum + 1 WHERE batch % ?1 = 1",
        )
    ),
    put_stale_data_back,
)
DAMAGES: dict[Kind, tuple[Callable[[Made, random.Random], None], ...]] = {
    Kind.RANK: (
        *_BOTH,
        *(
            partial(in_sql, statement)
            for statement in (
                "UPDATE items SET score = ?2 WHERE item_no % ?1 = 0",
                "UPDATE items SET score = score + 1e-12 WHERE item_no % (?1 * 5) = 0",
                "UPDATE items SET score = NULL WHERE item_no % ?1 = 0",
                "UPDATE items SET score = 'x' WHERE item_no % (?1 * 3) = 0",
                "UPDATE parts SET score = ?2 WHERE item_no % ?1 = 0",
            )
        ),
        score_bytes,
        score_bytes,
    ),
    Kind.EMBED: (
        *_BOTH,
        partial(in_sql, "DELETE FROM facts WHERE name = 'dimension'"),
        flip_bit,
        flip_bit,
        zero_page,
        cut_short,
        lengthen,
        swap_blocks,
        remove_vectors,
    ),
}


def damage_results(made: Made, rng: random.Random) -> None:
    """One to three kinds of damage to results of which all answers are there."""
    ways = rng.sample(DAMAGES[made.job.kind], rng.randint(1, 3))
    if put_stale_data_back in ways:  # it would undo the others
        ways.sort(key=lambda way: way is not put_stale_data_back)
    for way in ways:
        with _passed_over_when_in_the_way():
            way(made, rng)


@contextmanager
def _passed_over_when_in_the_way() -> Iterator[None]:
    """What an earlier damage has left nothing of."""
    try:
        yield
    except (FileNotFoundError, IndexError, ValueError):
        return
