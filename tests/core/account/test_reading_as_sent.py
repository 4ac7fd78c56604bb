"""A file that is taken over with its job is read as the computer read it that has sent the job."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind, ReadOptions, Role
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.results.exports import export
from tests.core.account.conftest import BGE_M3, Computer, inputs_of
from tests.core.account.test_taking_over import listed

NewComputer = Callable[..., Awaitable[Computer]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file whose columns nobody would take for what they are, without a header, and with a template over two."""
    path = tmp_path / "odd.txt"
    path.write_text("".join(f"{n};what {n % 5};part {n};other {n}\n" for n in range(30)), encoding="utf-8")
    return path


async def sent_oddly(computer: Computer, path: Path) -> Job:
    await computer.change_connection(keep_days=7)
    source = open_source(path, ReadOptions(separator=";", has_header=False))
    assert len(preview(source)) == 30
    mapping = inputs_of(path, Kind.RANK).mapping
    roles = (Role.ID, Role.QUERY, Role.CONTEXT, Role.KEEP)
    names = source.columns
    mapping = replace(mapping, roles=roles, template=f"{{{names[2]}}}: {{{names[3]}}}", second_roles=())
    job = computer.program.drafts.create(Kind.RANK, "Odd", BGE_M3, computer.connection_id)
    computer.program.drafts.change(job.id, options=replace(job.options, reuse=False))
    computer.program.drafts.load(job.id, source, mapping)
    await computer.program.actions.send(job.id)
    done = await computer.program.runner.wait(job.id)
    assert done.state is JobState.DONE and done.queries == 5
    return done


async def test_its_columns_are_what_they_were(new_computer: NewComputer, file: Path, tmp_path: Path) -> None:
    first, second = await new_computer(), await new_computer()
    job = await sent_oddly(first, file)
    guessed = inputs_of(file, Kind.RANK)
    await second.program.account_jobs.take_over(second.connection_id, await listed(second, job.id), guessed)
    theirs = await second.program.runner.wait(job.id)
    assert theirs.state is JobState.DONE and not theirs.has_named_texts
    written: list[str] = []
    for computer in (first, second):
        path = tmp_path / f"{len(written)}.csv"
        known = computer.program.ledger.job(job.id)
        export(computer.program.folder(job.id), metadata_of(known, "any"), path)
        written.append(path.read_text("utf-8"))
    assert written[0] == written[1] and "what 3" in written[0]


async def test_one_file_is_not_taken_for_two_or_for_other_columns(
    new_computer: NewComputer, file: Path, tmp_path: Path
) -> None:
    first, second = await new_computer(), await new_computer()
    job = await sent_oddly(first, file)
    found, given = await listed(second, job.id), inputs_of(file, Kind.RANK)
    narrow = tmp_path / "narrow.csv"
    narrow.write_text("query,context\na,b\n", encoding="utf-8")
    for inputs, words in (
        (AttachedInput(given.source, given.mapping, given.source), "it was sent as one file"),
        (inputs_of(narrow, Kind.RANK), "its columns are others"),
    ):
        with pytest.raises(UsageError, match=words):
            await second.program.account_jobs.take_over(second.connection_id, found, inputs)
        assert second.program.ledger.jobs() == ()
