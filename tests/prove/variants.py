"""Broken variants of the program, each made by patching it in the child to break one promise. All must be caught."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

from cfbatch_gui.core.errors import OutcomeUnknown, Unreachable
from cfbatch_gui.core.jobs.run import collecting, watching
from cfbatch_gui.core.jobs.run.submitting import Submitter
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store import job_store, submissions
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.submissions import Event, Submission
from cfbatch_gui.core.results.exports import base, excel, numpy_files, writing
from cfbatch_gui.core.system import files
from cfbatch_gui.core.workers_ai import answers
from cfbatch_gui.core.workers_ai.client import WorkersAI
from tests.prove.child import put
from tests.prove.compare import Breach

EXPORTERS = (base, excel, numpy_files)


@dataclass(frozen=True, slots=True)
class Variant:
    """A broken variant. `part` is the part of the proof that must find it, `breach` the expected finding.

    `shown_at` is the step of that part that is tried before the others, as it is known to show the breach.
    """

    name: str
    part: Literal["submit", "collect", "at once", "time-out", "export", "flush", "account"]
    breach: Breach
    install: Callable[[], None]
    shown_at: str = ""


def _sending_committed_after_the_send(name: str = "submit") -> None:
    save = Ledger.save_batch
    send = getattr(WorkersAI, name)
    held: list[tuple[Ledger, Batch]] = []

    def save_batch(self: Ledger, batch: Batch, **changes: object) -> Job:
        if batch.state is BatchState.SENDING:
            held.append((self, batch))
            return self.show_batch(batch)
        return save(self, batch, **changes)

    async def send_then_save(self: WorkersAI, model: str, body: bytes) -> Any:
        answer = await send(self, model, body)
        save(*held.pop())
        return answer

    put(Ledger, "save_batch", save_batch)
    put(WorkersAI, name, send_then_save)
    _lines_not_written(Event.SENDING)  # which would prove that an attempt was begun


def _sending_committed_after_the_call() -> None:
    _sending_committed_after_the_send("run")


def _id_written_after_queued_is_shown() -> None:
    save = JobStore.save
    held: list[tuple[Any, ...]] = []

    async def save_then_write(self: JobStore, batch: Batch, **changes: object) -> Job:
        job = await save(self, batch, **changes)
        while batch.state is BatchState.QUEUED and held:
            submissions.write_down(*held.pop())
        return job

    def hold(path: Path, *lines: Submission) -> None:
        if lines[-1].event is Event.ACCEPTED:
            held.append((path, *lines))
        else:
            submissions.write_down(path, *lines)

    put(job_store, "write_down", hold)
    put(JobStore, "save", save_then_write)


def _submit_repeated_after_a_time_out() -> None:
    submit = WorkersAI.submit

    async def twice(self: WorkersAI, model: str, body: bytes) -> Any:
        try:
            return await submit(self, model, body)
        except OutcomeUnknown:
            return await submit(self, model, body)

    put(WorkersAI, "submit", twice)


def _unknown_treated_as_not_sent() -> None:
    submit = WorkersAI.submit

    async def certain(self: WorkersAI, model: str, body: bytes) -> Any:
        try:
            return await submit(self, model, body)
        except OutcomeUnknown as error:
            raise Unreachable(error.message) from error

    put(WorkersAI, "submit", certain)


def _ids_not_written() -> None:
    _lines_not_written(Event.ACCEPTED)


def _lines_not_written(event: Event) -> None:
    write = submissions.write_down
    put(job_store, "write_down", lambda path, *lines: None if lines[-1].event is event else write(path, *lines))


def _sending_at_start_treated_as_planned() -> None:
    async def lost(self: Submitter, batch: Batch) -> None:
        await self._store.save(replace(batch, state=BatchState.PLANNED))

    put(Submitter, "lost", lost)


def _sending_at_start_treated_as_failed() -> None:
    async def lost(self: Submitter, batch: Batch) -> None:
        await self._store.save(replace(batch, state=BatchState.FAILED, error="Not sent."))

    put(Submitter, "lost", lost)


def _sending_at_start_treated_as_queued() -> None:
    async def lost(self: Submitter, batch: Batch) -> None:
        await self._store.save(replace(batch, state=BatchState.QUEUED, request_id="?"))

    put(Submitter, "lost", lost)


def _matched_by_position() -> None:
    put(answers, "_in_order", lambda elements, _: list(elements))


def _decoded_before_on_disk() -> None:
    held: list[tuple[Any, ...]] = []

    def collect_then_keep(*arguments: Any) -> Any:
        collected = collecting.collect(*arguments)
        while held:
            collecting.keep_reply(*held.pop())
        return collected

    put(watching, "keep_reply", lambda *arguments: held.append(arguments))
    put(watching, "collect", collect_then_keep)


def _written_in_place() -> None:
    @contextmanager
    def in_place(path: Path, *, buffering: int = -1, private: bool = False) -> Iterator[BinaryIO]:
        with path.open("w+b", buffering) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())

    for module in (files, *EXPORTERS):
        put(module, "atomic_writer", in_place)


def _old_manifest_left_beside_the_new_file() -> None:
    @contextmanager
    def left(_: Path) -> Iterator[Callable[[], None]]:
        yield lambda: None

    put(writing, "old_manifest", left)


def _unfinished_files_not_noted() -> None:
    @contextmanager
    def unnoted(*_: Path) -> Iterator[None]:
        yield

    put(files, "noted", unnoted)


def _not_flushed_before_replace() -> None:
    put(os, "fsync", lambda _: None)


VARIANTS = (
    Variant(
        "“sending” committed after the send", "submit", Breach.DOUBLED, _sending_committed_after_the_send, "body sent"
    ),
    Variant("id written after “queued” is shown", "submit", Breach.LOST, _id_written_after_queued_is_shown),
    Variant("submissions.jsonl not written", "submit", Breach.LOST, _ids_not_written),
    Variant(
        "“sending” at the start treated as planned",
        "submit",
        Breach.DOUBLED,
        _sending_at_start_treated_as_planned,
        "body sent",
    ),
    Variant(
        "“sending” at the start treated as not sent",
        "submit",
        Breach.MISLABELLED,
        _sending_at_start_treated_as_failed,
        "sending committed",
    ),
    Variant(
        "“sending” at the start treated as queued", "submit", Breach.MISLABELLED, _sending_at_start_treated_as_queued
    ),
    Variant("submit repeated after a time-out", "time-out", Breach.DOUBLED, _submit_repeated_after_a_time_out),
    Variant("unknown outcome treated as not sent", "time-out", Breach.DOUBLED, _unknown_treated_as_not_sent),
    Variant(
        "“sending” committed after a call at once",
        "at once",
        Breach.DOUBLED,
        _sending_committed_after_the_call,
        "body sent",
    ),
    Variant(
        "a call at once made again at the start",
        "at once",
        Breach.DOUBLED,
        _sending_at_start_treated_as_planned,
        "body sent",
    ),
    Variant("answers matched by position", "collect", Breach.WRONG, _matched_by_position),
    Variant("answer decoded before it is on disk", "collect", Breach.LOST, _decoded_before_on_disk),
    Variant("export written in place", "export", Breach.TORN, _written_in_place),
    Variant("old manifest left beside the new file", "export", Breach.TORN, _old_manifest_left_beside_the_new_file),
    Variant("unfinished files not noted", "export", Breach.STRAY, _unfinished_files_not_noted),
    Variant("no flush before the rename", "flush", Breach.TORN, _not_flushed_before_replace),
)


def watch_flushes(report: Path) -> None:
    """Write the names of files that are renamed over others without having been flushed to `report`.

    Killing the process cannot show this: written data is in the system's cache by then and is lost only when the
    system fails.
    """
    flushed: set[int] = set()
    fsync, replace_file = os.fsync, Path.replace

    def see_fsync(descriptor: int) -> None:
        fsync(descriptor)
        flushed.add(os.fstat(descriptor).st_ino)

    def see_replace(self: Path, target: Any) -> Path:
        if self.suffix == ".part" and self.stat().st_ino not in flushed:
            with report.open("a") as stream:
                stream.write(f"{Path(target).name}\n")
        return replace_file(self, target)

    put(os, "fsync", see_fsync)
    put(Path, "replace", see_replace)
