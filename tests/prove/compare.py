"""Comparison of the program's data with what the practice service accepted, and with the right value of each text.

What was found is put together from all processes and printed as tables.

The values come from the practice service's own model, one text at a time, so that none can be confused.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import NOT_SENT
from cfbatch_gui.core.jobs.plan.packing import body_of
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.submissions import submissions
from cfbatch_gui.core.practice.local_models import choose_model
from cfbatch_gui.core.system.paths import Paths
from tests.canary_search import Search
from tests.support.practice import Accepted

MODEL = "@cf/baai/bge-m3"

_WORDS = [
    "cat",
    "train",
    "cloud",
    "llama",
    "orange",
    "violin",
    "river",
    "bakery",
    "comet",
    "ledger",
    "harbour",
    "cactus",
]
QUERIES = tuple(f"Which {word} is meant?" for word in _WORDS[:6])
TEXTS = tuple(f"The {one} once belonged to the {other}." for one in _WORDS[:8] for other in _WORDS[8:])


@cache
def vectors() -> dict[str, NDArray[np.float32]]:
    """By text."""
    found = {text: choose_model().embed([text])[0] for text in (*QUERIES, *TEXTS)}
    rows = np.array(list(found.values()))
    distances = np.linalg.norm(rows[:, None] - rows[None], axis=2) + 9 * np.eye(len(rows))
    assert distances.min() > 0.01, "two texts cannot be told apart"
    return found


def is_score(query: str, text: str, score: float) -> bool:
    """Whether a score is the correct one for the query and the context."""
    right = float(vectors()[query] @ vectors()[text])
    return abs(right - score) < 0.002  # the practice service's scores have 11 bits


def is_vector(text: str, vector: NDArray[np.float32]) -> bool:
    """Whether a vector is the correct one for the text."""
    return bool(np.allclose(vectors()[text], vector, atol=1e-4))


def write_input(path: Path, kind: Kind, rng: random.Random, *, rows: int) -> Path:
    """Write an input file of so many rows, whose texts have known values."""
    if kind is Kind.RANK:
        lines = ["question,answer,label"]
        queries = rng.sample(QUERIES, max(1, min(len(QUERIES), rows // 6)))
        for query in queries:
            lines += [
                f"{query},{text},{len(text) % 3}" for text in rng.sample(TEXTS, min(len(TEXTS), rows // len(queries)))
            ]
    else:
        repeated = rng.choices(TEXTS, k=max(0, rows - len(TEXTS)))
        lines = ["text", *rng.sample(TEXTS, min(rows, len(TEXTS))), *repeated]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def command_of(path: Path, kind: Kind, name: str, connection: str = "cloudflare") -> list[object]:
    """The arguments of `cfbatch run` for a file."""
    return ["run", path, f"--{kind.value}", "--connection", connection, "--model", MODEL, "--name", name]


class Breach(StrEnum):
    """The ways in which the program can break its promises; the columns of the report."""

    LOST = "lost"  # accepted by the service, and missing in the program's data
    DOUBLED = "doubled"  # accepted more often than the user asked to send it
    MISLABELLED = "mislabelled"  # shown as unsent though accepted, or as accepted though not
    WRONG = "wrong"  # a score or a vector of another text
    TORN = "torn"  # a final file whose content is neither the old nor the new one
    STRAY = "stray"  # an unfinished file that the next start did not remove
    STUCK = "stuck"  # neither final nor in a state from which the user can continue
    TOKEN = "token"  # the API token in a file, in any encoding
    UNREACHED = "unreached"  # a defect of the harness: the program did not reach the step at which to kill it


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach and its description."""

    breach: Breach
    words: str


_UNSENT = frozenset({BatchState.PLANNED, BatchState.FAILED, BatchState.GONE})
_UNKNOWN = frozenset({BatchState.SENDING, BatchState.OUTCOME_UNKNOWN, BatchState.DISMISSED})
_KNOWN = frozenset({BatchState.QUEUED, BatchState.RUNNING, BatchState.COLLECTING, BatchState.DONE})
_IN_FLIGHT = frozenset({BatchState.SENDING, BatchState.OUTCOME_UNKNOWN})
_SETTLED = frozenset({BatchState.DONE, BatchState.OUTCOME_UNKNOWN, BatchState.DISMISSED})

Key = tuple[str, int]  # job id and number of the batch


@dataclass(frozen=True)
class Comparison:
    """The comparison of one data folder, to which no process may write meanwhile.

    `told_again` is the number of times that the user asked to send a batch again.
    """

    paths: Paths
    accepted: list[Accepted]
    answered: list[Accepted]
    told_again: Mapping[Key, int]

    def run(self, *, settled: bool) -> list[Finding]:
        """All findings. With `settled`, the program had the time to finish, and unfinished jobs are findings too."""
        try:
            with closing(Ledger.open_read_only(self.paths)) as ledger:
                jobs = [job for job in ledger.jobs() if job.is_sent]
        except UserError as error:
            return [Finding(Breach.LOST, f"the ledger cannot be read: {error.message} {error.detail}")]
        values = (finding for job in jobs for finding in self._values(job))
        return [*self._batches(jobs), *self._ids(jobs), *values, *(self._unsettled(jobs) if settled else ())]

    def _batches(self, jobs: list[Job]) -> Iterator[Finding]:
        by_hash = Counter(each.sha256 for each in self.accepted)
        synchronous = Counter(each.sha256 for each in self.answered)
        ids = {each.request_id: each.sha256 for each in self.accepted}
        for job in jobs:
            with self._folder(job).open(read_only=True) as database:
                noted = dict(database.execute("SELECT batch, sha256 FROM batches"))
            for batch in job.batches:
                body = sha256(body_of(self._folder(job), job, batch)).hexdigest()
                if batch.at_once:
                    yield from self._batch(batch, synchronous.pop(body, 0))
                    continue
                # A ledger that was made anew does not know the hash of what had left only perhaps.
                known = batch.state in _IN_FLIGHT and batch.sha256
                if known and (body != batch.sha256 or noted.get(batch.number) != body):
                    yield Finding(Breach.LOST, f"batch {job.id}/{batch.number} may have left; its folder does not say")
                times = by_hash.pop(body, 0)
                yield from self._batch(batch, times, ids.get(batch.request_id) == body)
        for unknown, times in (by_hash + synchronous).items():
            yield Finding(Breach.LOST, f"{times} × body {unknown[:8]} was accepted, and no job holds it")

    def _batch(self, batch: Batch, times: int, has_its_id: bool = False) -> Iterator[Finding]:
        """A synchronous call has no request id: its answer is stored, or its outcome is unknown."""
        kind = "call" if batch.at_once else "batch"
        what = f"{kind} {batch.job_id}/{batch.number}, {batch.state.value}, accepted {times} ×"
        again = self.told_again.get((batch.job_id, batch.number), 0)
        if times > 1 + again:
            yield Finding(Breach.DOUBLED, f"{what}, told to send {1 + again} ×")
        if batch.state in _UNSENT and not has_its_id and times > again:
            yield Finding(Breach.MISLABELLED, what)
        if batch.state not in _UNSENT | _UNKNOWN | _KNOWN:
            yield Finding(Breach.MISLABELLED, f"{what}: a state without a meaning here")
        if batch.at_once and batch.state in (BatchState.QUEUED, BatchState.RUNNING):
            yield Finding(Breach.MISLABELLED, f"{what}: nothing can be asked for")
        elif batch.at_once and batch.state in _KNOWN and not times:
            yield Finding(Breach.MISLABELLED, what)
        elif not batch.at_once and batch.state in _KNOWN and not has_its_id:
            breach = Breach.LOST if times else Breach.MISLABELLED
            yield Finding(breach, f"{what}, under an id that is not its own: {batch.request_id}")

    def _ids(self, jobs: list[Job]) -> Iterator[Finding]:
        """Findings for request ids in the ledger that are not in submissions.jsonl."""
        written = {(each.attempt, each.request_id, each.sha256) for each in submissions(self.paths.submissions)}
        for batch in (batch for job in jobs for batch in job.batches if batch.state in _KNOWN and not batch.at_once):
            if (batch.attempt, batch.request_id, batch.sha256) not in written:
                what = f"batch {batch.job_id}/{batch.number}, {batch.state.value}"
                yield Finding(Breach.LOST, f"{what}: its id is not in submissions.jsonl")

    def _values(self, job: Job) -> Iterator[Finding]:
        """Findings for values of another text, for values without an answer on disk, and for missing values."""
        folder, done = self._folder(job), {each.number for each in job.batches if each.state is BatchState.DONE}
        with folder.open(read_only=True) as database:
            rows = database.execute(
                "SELECT i.item_no, r.batch, r.state, q.text, t.text, i.score FROM items i JOIN requests r"
                " USING(request_no) JOIN texts t USING(text_no) LEFT JOIN queries q USING(query_no)"
            ).fetchall()
        # The file exists shortly before it is complete, while nothing is stored yet.
        is_stored = job.kind is Kind.EMBED and any(state == "done" for _, _, state, *_ in rows)
        vectors = np.load(folder.vectors) if is_stored and folder.vectors.exists() else None
        for batch in {row[1] for row in rows if row[2] == "done"} - {NOT_SENT}:
            try:
                folder.read_reply(batch)
            except (OSError, EOFError):
                yield Finding(Breach.LOST, f"batch {job.id}/{batch}: stored from an answer that is not on disk")
        for item_no, batch, state, query, text, score in rows:
            what = f"item {item_no} of {job.id}/{batch} ({state})"
            if batch in done and state != "done":
                yield Finding(Breach.WRONG, f"{what}: the batch is done, the result is missing")
            elif state != "done":
                continue
            elif job.kind is Kind.RANK and (score is None or not is_score(query, text, score)):
                yield Finding(Breach.WRONG, f"{what}: {score} is not the score of “{text}” for “{query}”")
            elif job.kind is Kind.EMBED and (vectors is None or not is_vector(text, vectors[item_no - 1])):
                yield Finding(Breach.WRONG, f"{what}: not the vector of “{text}”")

    def _unsettled(self, jobs: list[Job]) -> Iterator[Finding]:
        for job in jobs:
            for batch in job.batches:
                if batch.state not in _SETTLED:
                    words = f"batch {job.id}/{batch.number} came to rest {batch.state.value}: {batch.error}"
                    yield Finding(Breach.STUCK, f"{words} {job.paused_because}")
            if all(batch.state.is_final for batch in job.batches) and not job.finished_at:
                yield Finding(Breach.STUCK, f"job {job.id} is at its end, and does not say since when")

    def _folder(self, job: Job) -> JobFolder:
        return JobFolder(self.paths.job(job.id))


def unfinished_files(*folders: Path) -> list[Finding]:
    """Findings for unfinished files that a start should have removed."""
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [
        Finding(Breach.STRAY, f"{path.name} in {path.parent.name}")
        for path in found
        if path.suffix == ".part" or path.name.startswith("data.new.db")
    ]


def written_tokens(folder: Path) -> list[Finding]:
    """Findings of the tests' token in the files below a folder."""
    search = Search()
    search.folder(folder)
    return [Finding(Breach.TOKEN, str(hit)) for hit in sorted(search.hits)]


# The report

MOST_WORDS = 30  # findings that are printed individually


@dataclass
class Part:
    """What one scene came to. `tried` counts states after a power cut, and rounds in the account."""

    kills: int = 0
    tried: int = 0
    seconds: float = 0.0
    found: list[Finding] = field(default_factory=list)

    def add(self, where: str, found: Sequence[Finding]) -> None:
        """Add findings; `where` is the folder in which they can be inspected."""
        self.found += [Finding(each.breach, f"{each.words} ({where})") for each in found]


@dataclass
class Report:
    """The results of all scenes, and of all mutants: each with the breach as which it was caught, or "", and where."""

    parts: defaultdict[str, Part] = field(default_factory=lambda: defaultdict(Part))
    catches: list[tuple[str, str, str]] = field(default_factory=list)

    def take_in(self, other: "Report") -> None:
        """Add another process's results."""
        for name, part in other.parts.items():
            mine = self.parts[name]
            mine.kills += part.kills
            mine.tried += part.tried
            mine.seconds = max(mine.seconds, part.seconds)  # they work at the same time
            mine.found += part.found
        self.catches += other.catches

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found in the unchanged program, and every mutant was caught."""
        return not any(part.found for part in self.parts.values()) and all(how for _, how, _ in self.catches)

    def __str__(self) -> str:
        rows: list[Sequence[object]] = [["", "kills", "tried", *(breach.value for breach in Breach), "seconds"]]
        words = []
        for name, part in self.parts.items():
            counts = Counter(each.breach for each in part.found)
            rows.append([name, part.kills, part.tried, *(counts[each] for each in Breach), round(part.seconds)])
            words += [f"{name}: {each.breach.value}: {each.words}" for each in part.found]
        caught = [["mutant", "caught as", "at"], *([name, how or "NOT CAUGHT", at] for name, how, at in self.catches)]
        kills, found = sum(part.kills for part in self.parts.values()), len(words)
        end = f"{kills:,} kills, {found:,} findings, {len(self.catches)} mutants"
        return "\n".join([*_table(rows), "", *_table(caught), "", *words[:MOST_WORDS], end])


def _table(rows: Sequence[Sequence[object]]) -> list[str]:
    """The lines of a table; numbers are aligned on the right."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return ["  ".join(map(_padded, row, widths)).rstrip() for row in texts]


def _padded(cell: str, width: int) -> str:
    return cell.rjust(width) if cell.isdigit() else cell.ljust(width)
