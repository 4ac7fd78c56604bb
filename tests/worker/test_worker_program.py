"""The program ranks and embeds through the Worker with the same results as without it."""

import csv
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.exports import export
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.core.system.settings import SavedConnection
from tests.canary import OTHER_TOKEN
from tests.worker.conftest import ACCOUNT, BGE_M3, Stage
from tests.worker.runtime import SECRET

EXAMPLES = {Kind.RANK: "help-centre-ranking.csv", Kind.EMBED: "product-texts.csv"}
OWN_MARKS = {"request_id", "external_reference"}


@pytest.fixture
async def program(stage: Stage, tmp_path: Path) -> AsyncIterator[Program]:
    """A program with its own data folder. The service's clock advances by a batch's duration whenever a job changes."""
    opened = await Program.open(
        tmp_path / "data",
        environ={},
        credentials=Credentials(environ={}),
        on_change=lambda _: stage.wait_for_results(),
    )
    yield opened
    await opened.close()


def draft(program: Program, kind: Kind, connection_id: str) -> Job:
    job = program.drafts.create(kind, f"{kind} {connection_id}", BGE_M3, connection_id)
    source = open_source(resource(f"examples/{EXAMPLES[kind]}"))
    return program.drafts.load(job.id, source, suggest_mapping(source, kind, preview(source)))


def exported(program: Program, job: Job, path: Path) -> list[dict[str, str]]:
    """The rows of the exported file, without the values that differ for each job."""
    export(program.folder(job.id), metadata_of(job, "any"), path)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return [{name: cell for name, cell in row.items() if name not in OWN_MARKS} for row in rows]


async def test_it_ranks_and_embeds_through_the_worker(program: Program, stage: Stage, tmp_path: Path) -> None:
    """The exported files are identical to the last digit."""
    record = SavedConnection("", "Direct", "cloudflare", account_id=ACCOUNT, url=stage.practice_url)
    direct = await program.connections.save(record, secret=OTHER_TOKEN)
    record = SavedConnection("", "My Worker", "worker", url=stage.workers["with-secret"])
    worker = await program.connections.save(record, secret=SECRET)
    for kind in (Kind.RANK, Kind.EMBED):
        jobs = [draft(program, kind, connection.id) for connection in (direct, worker)]
        for job in jobs:
            await program.actions.send(job.id)
        done = [await program.runner.wait(job.id) for job in jobs]
        assert [job.state for job in done] == [JobState.DONE] * 2
        expected, found = (exported(program, job, tmp_path / f"{number}.csv") for number, job in enumerate(done))
        assert found == expected
        assert len(found) >= 60
