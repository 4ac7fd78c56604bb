"""A job that matches two lists, sent and finished."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cfbatch_gui.core.inputs.input_values import Kind, Layout, Role
from cfbatch_gui.core.inputs.layouts import with_role
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.jobs.states import Job, MatchOptions, Purpose
from cfbatch_gui.core.program import Program
from tests.core.inputs.files import suggested


async def two_lists(
    program: Program,
    folder: Path,
    a: str,
    b: str,
    *,
    name: str = "lists",
    texts: Sequence[int] = (),
    connection: str = "practice",
    **options: Any,
) -> Job:
    """`texts` are further columns of list A that are its text, `options` those of its matching."""
    for file, content in (("a.csv", a), ("b.csv", b)):
        (folder / file).write_text(content, "utf-8", newline="")
    source, second = open_source(folder / "a.csv"), open_source(folder / "b.csv")
    mapping = suggested(source, None, second)
    assert mapping.layout is Layout.LISTS
    for column in texts:
        mapping = with_role(mapping, column, Role.TEXT)
    job = program.drafts.create(Kind.EMBED, name, program.settings.model, connection)
    wanted = replace(job.options, purpose=Purpose.MATCH, matching=MatchOptions(**options))
    program.drafts.change(job.id, options=wanted)
    program.drafts.load(job.id, source, mapping, second)
    await program.actions.send(job.id)
    await program.runner.wait(job.id)
    return program.ledger.job(job.id)


def numbered_lists(rows: int) -> tuple[str, str]:
    """Two lists in which each row of A differs from all of B in a number, and the last ten of A have one text."""
    names = [f"Pot of steel number {number}" for number in range(rows)]
    names[-10:] = [names[-1]] * 10
    a = "\n".join(["id,name", *(f"a{number},{name}" for number, name in enumerate(names))])
    b = "\n".join(["sku,name", *(f"b{number},Pot of steel number {number + 10_000}" for number in range(rows))])
    return a, b
