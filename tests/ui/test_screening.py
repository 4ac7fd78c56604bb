"""Screening records by keys, in the whole window: each verdict is there after a new start, and the counts add up."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements.screening import Screening
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.results.screening import Verdict
from cfbatch_gui.ui.evaluation.screening_page import ScreeningPage
from cfbatch_gui.ui.results.screening_entry import open_screening
from cfbatch_gui.ui.theme import Theme
from tests.screen.past import run
from tests.screen.stage import Stage, opened
from tests.ui.connections import click, until
from tests.ui.test_review import press

RECORDS, TWICE = 37, 3  # of the example
QUESTION = "Does greenery near the home improve sleep?"


async def asked(stage: Stage, job: Job, question: str) -> None:
    stage.workspace.open_job(job.id)
    stage.workspace.job_page.show_tab("search")
    view = stage.workspace.job_page.view("search")
    view.sentence.setText(question)
    view.search()
    await until(lambda: view.screening.begin_button.isVisible() and not view.tasks.running())


async def ready(stage: Stage) -> tuple[ScreeningPage, Screening]:
    await until(lambda: stage.workspace.is_shown("screening_page"))
    page = stage.workspace.screening_page
    await until(lambda: page.session is not None and not page.tasks.running())
    assert page.session is not None
    return page, page.session


def adds_up(session: Screening) -> bool:
    flow = session.flow
    said = sum(verdict is not None for verdict in session.verdicts)
    return (flow.identified, flow.duplicates, flow.screened) == (RECORDS + TWICE, TWICE, said) and (
        flow.left == RECORDS - said
    )


async def test_records_are_screened_by_keys_and_all_is_there_after_a_new_start(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme) as stage:
        job = await run(stage.program, "Sleep", resource("examples/sleep-and-greenery.ris"), Kind.EMBED)
        await asked(stage, job, QUESTION)
        search = stage.workspace.job_page.view("search")
        click(search.screening.begin_button)
        page, session = await ready(stage)
        assert session.record is not None and session.place == 0 and adds_up(session)
        title, abstract, authors, *_ = session.record.cells
        shown = page.view.text.toPlainText()
        assert shown.startswith(f"{title}\n{authors}") and shown.count(title) == shown.count(abstract) == 1
        marked = {each.cursor.selectedText() for each in page.view.text.extraSelections()}
        assert "sleep" in marked and all(word.casefold() in QUESTION.casefold() for word in marked)
        keys = (Qt.Key.Key_I, Qt.Key.Key_3, Qt.Key.Key_M, Qt.Key.Key_E, Qt.Key.Key_1, Qt.Key.Key_2)
        for done, key in enumerate(keys, 1):
            await press(page, key)
            assert session.flow.screened == done and adds_up(session)
        for key in (Qt.Key.Key_9, Qt.Key.Key_X, Qt.Key.Key_Down):
            await press(page, key)
        flow = session.flow
        assert (flow.included, flow.maybe, flow.excluded) == (2, 2, 2)
        await press(page, Qt.Key.Key_Backspace)
        assert session.flow.maybe == 1 and adds_up(session)
        stage.workspace.notices.undos.undo()
        await until(lambda: session.flow.included == 1 and not page.tasks.running())
        QTest.mouseClick(page.view.cards[Verdict.EXCLUDE], Qt.MouseButton.LeftButton)
        QTest.keyClick(page.view, Qt.Key.Key_Escape)  # before the verdict is on the disk
        await until(lambda: stage.workspace.is_shown("job_page") and search.isVisible() and not search.tasks.running())
        assert "5" in search.screening.go_on_button.text() and not search.screening.begin_button.isVisible()
        before = dict(zip(session.texts, session.verdicts, strict=True))
    async with opened(tmp_path / "data", theme) as stage:
        await asked(stage, job, "noise at night")
        click(stage.workspace.job_page.view("search").screening.begin_button)  # another order, the same verdicts
        page, session = await ready(stage)
        assert adds_up(session) and dict(zip(session.texts, session.verdicts, strict=True)) == before
        while session.record is not None:
            await press(page, Qt.Key.Key_I)
        assert session.flow.left == 0 and adds_up(session) and not page.view.isVisible()
        await press(page, Qt.Key.Key_Backspace)
        assert session.flow.left == 1 and page.view.isVisible() and page.view.flow.text()
        click(page.view.look)
        await until(lambda: stage.workspace.job_page.tabs.current() == "duplicates")
        found = open_screening(stage.program, stage.program.ledger.job(job.id))
        assert found.verdicts.count(Verdict.EXCLUDE) == 3 and adds_up(found)
