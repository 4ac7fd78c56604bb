"""Data folders as older versions wrote them are opened, and hold what they held.

`tests/data/layouts` has one for each form that a job's data and the ledger have had together, made by the program of
that time: a ranking and vectors of the practice service, from `/srv/texts`. A new form of either adds one, made before
it. The forms 1 and 2 of a job's data are from before that; their tests make them from the tables of the time
(`test_repeats_and_parts.py`, `test_packed_texts.py`).
"""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import FileFormat, Kind
from cfbatch_gui.core.inputs.recipes import FileKind
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.jobs.plan.calibration import Calibration
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.jobs.store import ledger_tables
from cfbatch_gui.core.jobs.verify.verifying import verify_job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.rankings import Rankings
from cfbatch_gui.core.workers_ai.catalogue import find_model

LAYOUTS = Path(__file__).parents[1] / "data" / "layouts"
NEWEST = LAYOUTS / f"data-{schema.VERSION}-ledger-{ledger_tables.VERSION}.zip"
COLUMNS = ("id", "question", "answer", "relevance", "price")
SCORES = {
    "Choose “Forgot password” on the sign-in page.": (1, 0.4956),
    "Our shop is closed on Sundays – sorry!": (2, -0.0259),
    "The number in the mail shows where the parcel is.": (1, 0.7471),
    "Größe L ist ausverkauft.": (2, 0.0965),
}


def unpacked(layout: Path, root: Path) -> Path:
    with zipfile.ZipFile(layout) as archive:
        archive.extractall(root)
    return root


async def program_of(root: Path) -> Program:
    return await Program.open(root, environ={}, credentials=Credentials(environ={}))


def test_the_form_of_this_version_is_kept_for_the_next() -> None:
    assert NEWEST.exists()


@pytest.mark.parametrize("layout", sorted(LAYOUTS.iterdir()), ids=lambda path: path.stem)
async def test_jobs_of_every_form_are_opened_and_sound(layout: Path, tmp_path: Path) -> None:
    root = unpacked(layout, tmp_path / "data")
    for _ in range(2):  # the second time it has this version's form
        program = await program_of(root)
        try:
            assert (program.damage, program.recovered, program.doubt) == ((), (), None)
            ranking, vectors = sorted(program.ledger.jobs(), key=lambda job: job.kind is Kind.EMBED)
            assert {job.state for job in (ranking, vectors)} == {JobState.DONE}
            found = [context for block in Rankings(program.folder(ranking.id)).blocks() for context in block]
            assert {context.text: (context.rank, round(context.score or 0.0, 4)) for context in found} == SCORES
            embeddings = Embeddings(program.folder(vectors.id))
            assert embeddings.vectors().shape == (3, 256) and embeddings.present().all()
            lengths = np.linalg.norm(embeddings.vectors(), axis=1)
            assert np.allclose(lengths, 1, atol=1e-3) and embeddings.texts([2])[0].text == "Größe L ist ausverkauft."
            for job in (ranking, vectors):
                assert not [
                    each for each in verify_job(program.folder(job.id), job, mend=True).findings if each.is_lost
                ]
                draft = program.folder(job.id).draft()
                assert draft is not None and Path(draft.path).parent == Path("/srv/texts")
                assert program.drafts.duplicate(job.id, "again").texts == job.texts
                program.drafts.delete(*(each.id for each in program.ledger.jobs() if each.name == "again"))
        finally:
            await program.close()


async def test_the_first_settings_and_recipes_are_read(tmp_path: Path) -> None:
    program = await program_of(unpacked(LAYOUTS / "data-3-ledger-1.zip", tmp_path / "data"))
    try:
        assert program.settings.theme == "dark"
        (account,) = program.settings.connections
        assert (account.id, account.kind, account.account_id) == ("cloudflare", "cloudflare", "0" * 32)
        assert program.recipes.recipe("support questions").columns == COLUMNS
        assert program.recipes.remembered(FileKind(FileFormat.DELIMITED, COLUMNS)) is not None
    finally:
        await program.close()


async def test_all_that_this_version_keeps_is_read_by_the_next(tmp_path: Path) -> None:
    program = await program_of(unpacked(NEWEST, tmp_path / "data"))
    try:
        settings = program.settings
        assert (settings.theme, settings.language, settings.connection, settings.judge) == ("dark", "de", "w1", "Ana")
        assert [each.kind for each in settings.connections] == ["cloudflare", "worker"]
        assert (settings.budget.a_job, settings.folders) == (1.0, {"inputs": "/srv/texts"})
        assert program.recipes.recipe("Support questions").columns == COLUMNS
        assert program.connections.learned("w1", "@cf/baai/bge-m3").at == 0.0, "its account is another one"
        assert program.connections.models("w1").find("@cf/baai/bge-m3").dimension == 1024
        assert program.judgements.shelf.names() == ("My judgements",)
        assert program.judgements.shelf.book("My judgements").tally().pairs == 2
        job = next(job for job in program.ledger.jobs() if job.kind is Kind.EMBED)
        known = Calibration(program.paths.calibration, lambda job: True)
        assert known.apply(job, program.folder(job.id), find_model(job.model), 100, 200).jobs == 1
    finally:
        await program.close()
