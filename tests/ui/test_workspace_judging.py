"""From two finished rankings without labels to the answer in words, by keys alone."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from cfbatch_gui.ui.evaluation.comparison_page import ChooseJobsDialog
from cfbatch_gui.ui.theme import Theme
from tests.core.results.folders import Pair
from tests.screen.stage import opened
from tests.ui.test_evaluation import finished

QUERIES, TEXTS = 8, 5
PAIRS = [
    Pair(f"question {query}", f"answer {query}.{text}", 0.9 - text / 10)
    for query in range(QUERIES)
    for text in range(TEXTS)
]
CONTROL = Qt.KeyboardModifier.ControlModifier


async def test_is_b_better_than_a(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme) as stage:
        person, window = stage.person, stage.workspace.window
        worst_first = [replace(pair, outcome=0.9 - pair.outcome) for pair in PAIRS]  # type: ignore[operator]
        finished(stage.program, "Upside down", worst_first)
        first = finished(stage.program, "As it was", PAIRS)
        stage.workspace.show_jobs()
        await person.click_row("Jobs", "As it was")
        await person.until_sees("Compare", "Export…")
        await person.press(Qt.Key.Key_C, CONTROL | Qt.KeyboardModifier.ShiftModifier)
        await person.until_sees("Compare “As it was” with")
        await person.press(Qt.Key.Key_Return)
        await person.until_sees("A: As it was · B: Upside down")
        await person.until(lambda: not window.findChildren(ChooseJobsDialog))
        await person.press(Qt.Key.Key_J, CONTROL)
        await person.until_sees("Start judging", f"Texts to judge: {QUERIES * TEXTS}")
        await person.press(Qt.Key.Key_Return)
        page = stage.workspace.evaluating.judging
        await person.until(lambda: page.session is not None and page.view.isVisible())
        session = page.session
        assert session is not None
        while session.current is not None:
            assert "As it was" not in " ".join(page.view.words())
            await person.press(Qt.Key.Key_2 if session.current.document.text.endswith(".0") else Qt.Key.Key_0)
            await person.until(lambda: not page.tasks.running())
        await person.until_sees(
            f"All {QUERIES * TEXTS} texts are judged. Of 4 texts that came twice you gave 4 the same"
        )
        await person.press(Qt.Key.Key_Return)
        await person.until_sees("B is worse", "B is better for 0 queries, worse for 8, the same for 0.")
        await person.until_sees("By the book “My judgements”")
        await person.click("Back to the job")
        await person.until(lambda: window.library.opened_job() == first.id)
        assert QApplication.focusWidget() is not None
        stage.workspace.job_page.tabs.choose("quality")
        await person.until_sees("nDCG@10, mean of 8 queries", "1.0000", "All of them are judged.")
