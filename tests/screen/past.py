"""Jobs that were run before the window opens: really run, with a clock that can be set back and moved on."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program


class Clock:
    """The time of day, moved by `offset` seconds; while it is `held` it stands at that moment."""

    def __init__(self) -> None:
        self.offset = 0.0
        self.held: float | None = None

    def __call__(self) -> float:
        return time.time() + self.offset if self.held is None else self.held

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Hold it now, until the end of the block; then it goes on from there."""
        self.held = self()
        try:
            yield
        finally:
            self.offset, self.held = self.held - time.time(), None


async def draft(
    program: Program, name: str, path: Path, kind: Kind, connection: str = "practice", *, reuse: bool = False
) -> Job:
    """A job that is ready to be sent, also what earlier jobs have of it, unless it is to `reuse` that."""
    job = program.drafts.create(kind, name, program.settings.model, connection)
    source = await asyncio.to_thread(open_source, path)
    mapping = suggest_mapping(source, kind, preview(source, 50))
    program.drafts.change(job.id, options=replace(job.options, reuse=reuse))
    return await asyncio.to_thread(program.drafts.load, job.id, source, mapping)


async def run(program: Program, name: str, path: Path, kind: Kind, connection: str = "practice") -> Job:
    """A job that was sent, as far as it comes."""
    job = await draft(program, name, path, kind, connection)
    await program.actions.send(job.id)
    return await program.runner.wait(job.id)
