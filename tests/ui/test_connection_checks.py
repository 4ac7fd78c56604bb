from typing import Any

from cfbatch_gui.core.workers_ai.checking import COLLECTING_TITLE, TITLES, WORKER_TITLES, CheckResult
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


def test_a_worker_that_does_not_collect_works_and_says_what_is_missing() -> None:
    checks = CheckList(WORKER_TITLES, COLLECTING_TITLE)
    good = [CheckResult(title, True, "") for title in WORKER_TITLES]
    checks.show_results(good)
    assert checks.optional.isHidden() and checks.outcome.text() == "Everything works"
    checks.reset()
    assert checks.foot().startswith("Four questions")
    checks.show_optional(True)
    assert not checks.optional.isHidden() and checks.foot().startswith("Five questions")
    checks.show_results([*good, CheckResult(COLLECTING_TITLE, False, "Deploy the room.", is_needed=False)])
    assert [row.state() for row in (*checks.rows, checks.optional)] == ["Yes"] * 4 + ["No"]
    assert checks.optional.accessibleName() == "Collects answers: No: Deploy the room."
    assert checks.outcome.text() == "Does not collect"
    checks.show_results([CheckResult(WORKER_TITLES[0], False, "Not reached."), *good[1:]])
    assert checks.optional.state() == "Not asked" and checks.outcome.text() == "Failed"
    checks.show_optional(False)
    checks.show_results([*good, CheckResult(COLLECTING_TITLE, True, "It can.", is_needed=False)])
    assert not checks.optional.isHidden() and checks.optional.reason() == "It can."
