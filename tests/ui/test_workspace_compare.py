"""From the menu of a job to its comparison with another, and back."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.evaluation.choose_jobs import ChooseJobsDialog
from cfbatch_gui.ui.theme import Theme
from tests.core.results.folders import Pair, Table
from tests.screen.stage import opened

PAIRS = (
    Pair("reset my password", "Choose a new password", 0.9, "A-1", "1"),
    Pair("reset my password", "Invoices are sent", 0.2, "A-2", "0"),
    Pair("cancel an order", "Until it is packed", 0.8, "B-1", "1"),
    Pair("cancel an order", "Reset your password", 0.1, "B-2", "0"),
)


def finished(program: Program, name: str, scores: tuple[float, ...]) -> Job:
    job = program.drafts.create(Kind.RANK, name, "@cf/baai/bge-m3", "practice")
    table = Table(program.folder(job.id).path)
    table.rank([replace(pair, outcome=score) for pair, score in zip(PAIRS, scores, strict=True)])
    batch = Batch(job.id, 1, BatchState.DONE, 2, len(PAIRS), 1_000)
    return program.ledger.save_plan(replace(job, is_sent=True, queries=2, texts=len(PAIRS)), [batch])


async def test_two_jobs_are_compared_and_the_first_is_come_back_to(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme) as stage:
        person, window = stage.person, stage.workspace.window
        small = finished(stage.program, "Small model", (0.9, 0.2, 0.8, 0.1))
        large = finished(stage.program, "Large model", (0.1, 0.2, 0.8, 0.3))
        stage.workspace._show_jobs()
        await person.click_row("Jobs", "Large model")
        await person.until_sees("Compare", "Export…")
        await person.click("Compare")
        await person.until_sees("Compare “Large model” with")
        await person.press(Qt.Key.Key_Return)
        await person.until_sees("Comparison", "A: Large model · B: Small model · 2 queries · 4 texts", "1 of 2")
        await person.until(lambda: not window.findChildren(ChooseJobsDialog))
        assert not window.library.opened_job()
        window.library.renamed.emit(small.id, "Tiny model")
        await person.until_sees("A: Large model · B: Tiny model · 2 queries · 4 texts")
        await person.click("Back to the job")
        await person.until(lambda: window.library.opened_job() == large.id)


async def test_whoever_thinks_better_of_it_stays_where_he_is(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme) as stage:
        person, window = stage.person, stage.workspace.window
        lonely = finished(stage.program, "Lonely", (0.9, 0.2, 0.8, 0.1))
        stage.workspace._show_jobs()
        await person.click_row("Jobs", "Lonely")
        window.library.compare_wanted.emit(lonely.id)
        await person.until_sees("There is no other ranking with results yet. Duplicate this job and change its model.")
        await person.press(Qt.Key.Key_Escape)
        assert window.library.opened_job() == lonely.id
