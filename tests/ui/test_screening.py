"""Screening records by keys, in the whole window: each verdict is there after a new start, and the counts add up."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.judgements.screening import Screening
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.results.screening import Flow, Verdict
from cfbatch_gui.ui.evaluation.screening_page import ScreeningPage
from cfbatch_gui.ui.results.export_dialog import ExportDialog
from cfbatch_gui.ui.theme import Theme
from tests.screen.past import run
from tests.screen.stage import Stage, opened
from tests.ui.connections import click, until
from tests.ui.test_review import press

QUESTION = "Does greenery near the home improve sleep?"
RECORDS, TWICE = 40, 3  # of the example


async def begun(stage: Stage, job_id: str, question: str) -> tuple[ScreeningPage, Screening]:
    """The screening in the order of a question that is asked for it."""
    stage.workspace.open_job(job_id)
    stage.workspace.job_page.show_tab("search")
    view = stage.workspace.job_page.view("search")
    view.field.setText(question)
    view.search()
    await until(lambda: view.screening.begin_button.isVisible() and not view.tasks.running())
    click(view.screening.begin_button)
    await until(lambda: stage.workspace.is_shown("screening_page"))
    page = stage.workspace.screening_page
    await until(lambda: page.session is not None and not page.tasks.running())
    assert page.session is not None
    return page, page.session


async def test_records_are_screened_by_keys_and_all_is_there_after_a_new_start(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme) as stage:
        job = await run(stage.program, "Sleep", resource("examples/sleep-and-greenery.ris"), Kind.EMBED)
        page, session = await begun(stage, job.id, QUESTION)
        assert session.record is not None and session.place == 0
        title, abstract, authors, *_ = session.record.cells
        shown = page.view.text.toPlainText()
        assert shown.startswith(f"{title}\n{authors}") and shown.count(title) == shown.count(abstract) == 1
        marked = {each.cursor.selectedText() for each in page.view.text.extraSelections()}
        assert "sleep" in marked and all(word.casefold() in QUESTION.casefold() for word in marked)
        counts = [(1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 2), (2, 1, 2), (2, 2, 2), (2, 2, 2), (2, 1, 2), (2, 2, 2)]
        for key, count in zip("I3ME12X⌫M", counts, strict=True):
            await press(page, Qt.Key.Key_Backspace if key == "⌫" else Qt.Key(ord(key)))
            assert session.flow == Flow(RECORDS, TWICE, *count)
            assert session.flow.left == RECORDS - TWICE - sum(count)
        stage.workspace.notices.undos.undo()
        await until(lambda: session.flow.maybe == 1 and not page.tasks.running())
        QTest.mouseClick(page.view.cards[Verdict.EXCLUDE], Qt.MouseButton.LeftButton)
        QTest.keyClick(page.view, Qt.Key.Key_Escape)  # before the verdict is on the disk
        search = stage.workspace.job_page.view("search")
        await until(lambda: search.isVisible() and not search.tasks.running())
        assert str(session.flow.screened) in search.screening.go_on_button.text()
        before = dict(zip(session.texts, session.verdicts, strict=True))
    async with opened(tmp_path / "data", theme) as stage:
        page, session = await begun(stage, job.id, "noise at night")  # another order, the same verdicts
        assert dict(zip(session.texts, session.verdicts, strict=True)) == before
        assert session.flow == Flow(RECORDS, TWICE, 2, 1, 3)
        while session.record is not None:
            await press(page, Qt.Key.Key_I)
        assert session.flow.left == 0 and not page.view.isVisible()
        click(page.place.button)
        await until(lambda: page.window().findChild(ExportDialog) is not None)
        dialog = page.window().findChild(ExportDialog)
        assert dialog is not None and dialog.forms.first.is_of_screening
        dialog.close()
        await press(page, Qt.Key.Key_Backspace)
        assert session.flow.left == 1 and page.view.isVisible()
        click(page.view.look)
        await until(lambda: stage.workspace.job_page.tabs.current() == "duplicates")
