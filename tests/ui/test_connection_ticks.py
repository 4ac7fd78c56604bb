from typing import Any

from cfbatch_gui.core.workers_ai.checking import TITLES, Tick
from cfbatch_gui.ui.connections.tested_card import TickList


def test_what_the_service_leaves_open_is_told_from_what_was_not_asked(qtbot: Any) -> None:
    ticks = TickList()
    qtbot.addWidget(ticks)
    answers = [Tick(title, True, "") for title in TITLES[:3]]
    ticks.show_ticks([*answers, Tick(TITLES[3], None, "It may work all the same.")])
    assert [row.state() for row in ticks.rows] == ["Yes", "Yes", "Yes", "Not certain"]
    assert ticks.rows[3].accessibleName() == "Model takes batches: Not certain: It may work all the same."
    assert ticks.outcome.text() == "Not certain"

    ticks.show_ticks([Tick(TITLES[0], True, ""), Tick(TITLES[1], None, "Too often."), *_unasked()])
    assert [row.state() for row in ticks.rows] == ["Yes", "Not certain", "Not asked", "Not asked"]

    ticks.reset()
    assert [row.reason() for row in ticks.rows] == [""] * 4 and ticks.outcome.isHidden()


def _unasked() -> list[Tick]:
    return [Tick(title, None, "") for title in TITLES[2:]]
