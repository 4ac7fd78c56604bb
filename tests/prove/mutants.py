"""Mutants: the program with one rule broken, by patching it in the child. Each must be caught.

They are there for each step of the order of commits, and for each flush: the places of flushes are found in the source,
so that a new fsync() has its mutant without being listed here.
"""

import ast
import os
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, Literal

import cfbatch_gui
from cfbatch_gui.core.errors import OutcomeUnknown, Unreachable
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.run import runner
from cfbatch_gui.core.jobs.run.submitting import Submitter
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store import job_store
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.submissions import Event
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.values import Judgement
from cfbatch_gui.core.results.exports import writing
from cfbatch_gui.core.system import files
from cfbatch_gui.core.workers_ai import answers
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.collector import AccountCollector
from tests.prove.compare import Breach
from tests.prove.power import mark
from tests.prove.world import nothing, put, wrap

SceneName = Literal["submit", "collect", "at once", "late", "export", "judging", "account", "power"]
SKIPPED = {"skipped": True}  # the mark that a mutant leaves where it passes over a flush


@dataclass(frozen=True, slots=True)
class Mutant:
    """`scene` is where it must be found out, `breach` as what; of a power cut, as anything.

    `shown_at` is the step of that scene that is tried before the others, as it is known to show the breach.
    """

    name: str
    scene: SceneName
    breach: Breach | None
    install: Callable[[], object]
    shown_at: str = ""


class Held:
    """Calls of a function that are held back, when they are meant, until they are let go; they give what is given."""

    def __init__(
        self, owner: Any, name: str, *, when: Callable[..., bool] = lambda *_: True, give: Callable[..., Any] = nothing
    ) -> None:
        self._call = getattr(owner, name)
        self._held: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

        def hold(*arguments: Any, **named: Any) -> Any:
            if not when(*arguments):
                return self._call(*arguments, **named)
            self._held.append((arguments, named))
            return give(*arguments)

        put(owner, name, hold)

    def let_go(self, *_: object, **__: object) -> None:
        while self._held:
            arguments, named = self._held.pop(0)
            self._call(*arguments, **named)


# The order of commits


def _noted_after_the_send() -> None:
    wrap(WorkersAI, "submit", after=Held(JobFolder, "note_sending").let_go)


def _committed_after_the_send(call: str = "submit") -> None:
    def is_sending(_: Ledger, batch: Batch) -> bool:
        return batch.state is BatchState.SENDING

    held = Held(Ledger, "save_batch", when=is_sending, give=lambda ledger, batch: ledger.show_batch(batch))
    wrap(WorkersAI, call, after=held.let_go)
    _lines_held(Event.SENDING)  # which would prove that an attempt was begun


def _lines_held(event: Event) -> Held:
    return Held(job_store, "write_down", when=lambda _, *lines: lines[-1].event is event)


def _written_after_shown() -> None:
    held = _lines_held(Event.ACCEPTED)

    def saved(_: Job, __: JobStore, batch: Batch, **___: object) -> None:
        if batch.state is BatchState.QUEUED:
            held.let_go()

    wrap(JobStore, "save", after=saved)


def _shown_before_committed() -> None:
    def show(store: JobStore, batch: Batch, **_: object) -> None:
        if batch.state is BatchState.QUEUED:
            store.show_batch(batch)

    wrap(JobStore, "save", before=show)


def _submitted(again: Callable[[Callable[[], Any], OutcomeUnknown], Any]) -> None:
    """What `again` does when the outcome of a submit is unknown."""
    submit = WorkersAI.submit

    async def changed(self: WorkersAI, model: str, body: bytes) -> Any:
        try:
            return await submit(self, model, body)
        except OutcomeUnknown as error:
            return await again(lambda: submit(self, model, body), error)

    put(WorkersAI, "submit", changed)


async def _not_sent(_: object, error: OutcomeUnknown) -> None:
    raise Unreachable(error.message) from error


def _taken_at_the_start_as(state: BatchState, **changes: str) -> None:
    async def lost(self: Submitter, batch: Batch) -> None:
        await self._store.save(replace(batch, state=state, **changes))  # type: ignore[arg-type]

    put(Submitter, "lost", lost)


def _matched_by_position() -> None:
    put(answers, "_in_order", lambda elements, _: list(elements))


def _decoded_before_on_disk() -> None:
    wrap(runner, "collect", after=Held(runner, "keep_reply").let_go)


# Exports and judgements


def _written_in_place() -> None:
    def in_place(path: Path, *_: object, **__: object) -> BinaryIO:
        return path.open("w+b")

    exports = (module for name, module in sys.modules.items() if name.startswith("cfbatch_gui.core.results.exports"))
    for module in (files, *exports):
        if hasattr(module, "atomic_writer"):
            put(module, "atomic_writer", in_place)


def _judgement_written_with_the_next_one() -> None:
    add, waiting = Book.add, list[Judgement]()

    def late(book: Book, judgements: Sequence[Judgement]) -> None:
        now, waiting[:] = list(waiting), judgements
        add(book, now)

    put(Book, "add", late)


# Collecting in the account; the references, by which the program would notice, do not count


def _collected_again_for_the_next_batch() -> None:
    fetch, held = AccountCollector.answer, list[bytes]()

    async def give_the_one_before(self: AccountCollector, job_id: str, shard: int, batch: int, size: int) -> bytes:
        held.append(await fetch(self, job_id, shard, batch, size))
        return held[-2] if len(held) > 1 else held[-1]

    put(AccountCollector, "answer", give_the_one_before)
    _matched_by_position()


_PLANNED = partial(_taken_at_the_start_as, BatchState.PLANNED)
_FAILED = partial(_taken_at_the_start_as, BatchState.FAILED, error="Not sent.")
_QUEUED = partial(_taken_at_the_start_as, BatchState.QUEUED, request_id="?")
_SENT_LATE = partial(_committed_after_the_send, "run")
_NO_IDS = partial(_lines_held, Event.ACCEPTED)
_OLD_MANIFEST = partial(Held, writing, "remove_manifest")
_NOT_NOTED = partial(Held, files, "list_unfinished")
_TWICE = partial(_submitted, lambda submit, _: submit())
_UNSENT = partial(_submitted, _not_sent)
ORDER = (
    Mutant("noted with the job after the send", "submit", Breach.LOST, _noted_after_the_send, "body sent"),
    Mutant("“sending” committed after the send", "submit", Breach.DOUBLED, _committed_after_the_send, "body sent"),
    Mutant("id written after “queued” is shown", "submit", Breach.LOST, _written_after_shown, "queued shown"),
    Mutant("submissions.jsonl not written", "submit", Breach.LOST, _NO_IDS, "queued committed"),
    Mutant("“queued” shown before it is committed", "submit", Breach.LOST, _shown_before_committed, "queued shown"),
    Mutant("“sending” at the start taken as planned", "submit", Breach.DOUBLED, _PLANNED, "body sent"),
    Mutant("“sending” at the start taken as not sent", "submit", Breach.MISLABELLED, _FAILED, "body sent"),
    Mutant("“sending” at the start taken as queued", "submit", Breach.MISLABELLED, _QUEUED, "sending committed"),
    Mutant("submit repeated after a time-out", "late", Breach.DOUBLED, _TWICE),
    Mutant("unknown outcome taken as not sent", "late", Breach.DOUBLED, _UNSENT),
    Mutant("“sending” committed after a call at once", "at once", Breach.DOUBLED, _SENT_LATE, "body sent"),
    Mutant("a call at once made again at the start", "at once", Breach.DOUBLED, _PLANNED, "body sent"),
    Mutant("answers matched by position", "collect", Breach.WRONG, _matched_by_position, "done shown"),
    Mutant(
        "answer decoded before it is on disk",
        "collect",
        Breach.LOST,
        _decoded_before_on_disk,
        "data stored, not committed",
    ),
    Mutant("export written in place", "export", Breach.TORN, _written_in_place),
    Mutant("old manifest left beside the new file", "export", Breach.TORN, _OLD_MANIFEST),
    Mutant("unfinished files not noted", "export", Breach.STRAY, _NOT_NOTED),
    Mutant("a judgement written with the next one", "judging", Breach.LOST, _judgement_written_with_the_next_one),
)
IN_THE_ACCOUNT = (
    Mutant("answer collected again for the next batch", "account", Breach.WRONG, _collected_again_for_the_next_batch),
)


# Flushes

_PACKAGE = Path(cfbatch_gui.__file__).parent
_FLUSHES = frozenset({"flush_folder", "flush_to_disk", "_flush_folder", "_flush_folders"})
_DEEPEST = 12  # frames between a place and the call of os.fsync
# Flushes without a mutant, and why.
EXEMPT = {
    "filling.fill: flush_folder": "the job is committed to data.db next, which flushes the folder",
    "folder.create: flush_folder": "planning commits to data.db before anything is sent, which flushes the folder",
    "vector_file.new_vectors: flush_folder": "data.db, in the same folder, is committed next",
    "files._move_into: _flush_folder": "the manifest is written next, beside the folder",
    "files.append_line_durably: _flush_folder": "the ledger, in the same folder, is committed next",
}
# Functions that the recorded run does not come to: recovering, mending, copying, deleting, taking from the account.
ELSEWHERE = frozenset({"duplicate", "delete"})


@dataclass(frozen=True, slots=True)
class Place:
    """A call of a flush. `first` and `last` are its lines."""

    path: str
    function: str
    name: str
    first: int
    last: int


def places() -> list[Place]:
    """Every place in the program at which something is flushed, apart from the bodies of the functions that do it."""
    found: list[Place] = []
    names: Counter[str] = Counter()
    for path in sorted(_PACKAGE.rglob("*.py")):
        for function, flush, node in _flushes(ast.parse(path.read_text("utf-8")), ""):
            name = f"{path.stem}.{function}: {flush}"
            names[name] += 1
            numbered = name if names[name] == 1 else f"{name} ({names[name]})"
            found.append(Place(str(path), function, numbered, node.lineno, node.end_lineno or node.lineno))
    return found


def _flushes(node: ast.AST, function: str) -> Iterator[tuple[str, str, ast.expr]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        if node.name in _FLUSHES:
            return
        function = node.name
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FLUSHES:
        yield function, node.func.id, node
    if isinstance(node, ast.Attribute) and node.attr in ("fsync", "fdatasync"):
        yield function, ast.unparse(node), node
    for each in ast.iter_child_nodes(node):
        yield from _flushes(each, function)


def _without(place: Place) -> None:
    """Pass over the flush of a place, and leave a mark each time."""
    fsync = os.fsync

    def passed_over(descriptor: int) -> None:
        frame: FrameType | None = sys._getframe(1)
        for _ in range(_DEEPEST):
            if frame is None:
                break
            if frame.f_code.co_filename == place.path and place.first <= frame.f_lineno <= place.last:
                mark(SKIPPED)
                return
            frame = frame.f_back
        fsync(descriptor)

    put(os, "fsync", passed_over)


def _synchronous(name: str, level: str) -> None:
    """Open the databases of a name with another level of SQLite's "synchronous"."""
    connect = sqlite3.connect

    class Weak(sqlite3.Connection):
        def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
            is_level = "PRAGMA synchronous" in statement
            return super().execute(f"PRAGMA synchronous = {level}" if is_level else statement, *parameters)

    def connected(address: Any, *arguments: Any, **named: Any) -> sqlite3.Connection:
        if Path(str(address).partition("?")[0]).name == name:
            named["factory"] = Weak
            mark(SKIPPED)
        database: sqlite3.Connection = connect(address, *arguments, **named)
        return database

    put(sqlite3, "connect", connected)


def flush_mutants() -> list[Mutant]:
    """One for each flush that the recorded run passes, and for SQLite's own; the most important ones first."""
    found = [
        Mutant(f"without {place.name}", "power", None, partial(_without, place))
        for place in places()
        if place.name not in EXEMPT and place.function.strip("_") not in ELSEWHERE
    ]
    found += [
        Mutant(f"{name} at synchronous = {level}", "power", None, partial(_synchronous, name, level))
        for name in ("ledger.db", "data.db")
        for level in ("OFF", "FULL")
    ]
    return sorted(found, key=lambda mutant: "files._append" not in mutant.name)
