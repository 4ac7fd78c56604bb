from typing import Any

from cfbatch_gui.core.workers_ai.checking import TITLES, CheckResult
from cfbatch_gui.ui.connections.tested_card import CheckList


def test_what_the_service_leaves_open_is_told_from_what_was_not_asked(qtbot: Any) -> None:
    checks = CheckList()
    qtbot.addWidget(checks)
    answers = [CheckResult(title, True, "") for title in TITLES[:3]]
    checks.show_results([*answers, CheckResult(TITLES[3], None, "It may work all the same.")])
    assert [row.state() for row in checks.rows] == ["Yes", "Yes", "Yes", "Not certain"]
    assert checks.rows[3].accessibleName() == "Model takes batches: Not certain: It may work all the same."
    assert checks.outcome.text() == "Not certain"

    checks.show_results([CheckResult(TITLES[0], True, ""), CheckResult(TITLES[1], None, "Too often."), *_unasked()])
    assert [row.state() for row in checks.rows] == ["Yes", "Not certain", "Not asked", "Not asked"]

    checks.reset()
    assert [row.reason() for row in checks.rows] == [""] * 4 and checks.outcome.isHidden()


def _unasked() -> list[CheckResult]:
    return [CheckResult(title, None, "") for title in TITLES[2:]]
