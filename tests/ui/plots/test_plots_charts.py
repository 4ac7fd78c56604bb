"""Charts show what they were given, say what is under the mouse, and are exported as PNG, SVG and CSV."""

import csv
import io
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Band, Bars, Chart, Dots, Line, Mark, PictureButtons, Steps
from cfbatch_gui.ui.plots.chart import describe_at
from cfbatch_gui.ui.plots.plot import Scale, labels, padded, ticks
from cfbatch_gui.ui.tasks import Tasks

EDGES, COUNTS = np.array([0.0, 0.25, 0.5, 1.0]), np.array([3, 0, 8])


@pytest.fixture
def histogram(qtbot: QtBot) -> Chart:
    chart = Chart("Scores")
    qtbot.addWidget(chart)
    chart.resize(500, 300)
    outline = Steps(EDGES, COUNTS * 0.5, "Unrelated")
    chart.show_layers((Bars(EDGES, COUNTS, "These"), outline, Mark(0.4, "Threshold")), across="Score", up="Contexts")
    return chart


@pytest.fixture
def scatter(qtbot: QtBot) -> Chart:
    chart = Chart("Two models")
    qtbot.addWidget(chart)
    chart.resize(500, 300)
    x, y = np.array([0.0, 0.5, np.nan, 1.0]), np.array([0.0, 0.9, 0.5, 1.0])
    dots = Dots(x, y, "Pairs", describe=lambda index: ("=1+1", "second", "third", "fourth")[index])
    chart.show_layers((Line(0, 1), dots), across="one", up="other")
    return chart


def test_the_data_of_a_histogram_are_its_bars(histogram: Chart) -> None:
    rows = list(csv.reader(io.StringIO(histogram.data().csv().decode("utf-8-sig"))))
    assert rows[0] == ["series", "from", "to", "Contexts"]
    assert rows[1:4] == [["These", "0.0", "0.25", "3"], ["These", "0.25", "0.5", "0"], ["These", "0.5", "1.0", "8"]]
    assert rows[4] == ["Unrelated", "0.0", "0.25", "1.5"]


def test_the_data_of_dots_hold_no_live_formula(scatter: Chart) -> None:
    rows = list(csv.reader(io.StringIO(scatter.data().csv().decode("utf-8-sig"))))
    assert rows[0] == ["series", "one", "other", "text"]
    assert rows[1] == ["Pairs", "0.0", "0.0", "'=1+1"]
    assert len(rows) == 5


def test_a_click_on_a_dot_brings_its_index(scatter: Chart) -> None:
    picked: list[int] = []
    scatter.picked.connect(picked.append)
    shown = scatter._frame(scatter.size().toSizeF())
    at = QPointF(shown.across.pixel(0.5), shown.up.pixel(0.9))
    QTest.mouseClick(scatter, Qt.MouseButton.LeftButton, pos=(at + QPointF(2, 2)).toPoint())
    QTest.mouseClick(scatter, Qt.MouseButton.LeftButton, pos=shown.box.topLeft().toPoint())
    assert picked == [1]
    found = describe_at(scatter.layers, shown, at)
    assert found is not None
    assert (found.text, found.index) == ("second", 1)


async def test_it_is_saved_as_picture_drawing_and_table(histogram: Chart, tmp_path: Path) -> None:
    notices = Notices()
    buttons = PictureButtons(histogram, notices, Tasks(histogram, lambda error: None), None, "scores")
    for suffix in ("png", "svg", "csv"):
        await buttons.write(tmp_path / f"scores.{suffix}")
    assert not QImage(str(tmp_path / "scores.png")).isNull()
    root = ET.fromstring((tmp_path / "scores.svg").read_bytes())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "Threshold" in "".join(root.itertext())
    assert (tmp_path / "scores.csv").read_text(encoding="utf-8-sig").startswith("series,from,to")
    assert notices.texts()[-1] == "Wrote “scores.csv”."
    for widget in (buttons, notices):
        widget.deleteLater()
    QApplication.sendPostedEvents()


def test_ticks_are_round_and_their_labels_exact() -> None:
    assert ticks(0, 1, 5) == pytest.approx((0, 0.2, 0.4, 0.6, 0.8, 1.0))
    assert labels(ticks(0, 1, 4)) == ("0.00", "0.25", "0.50", "0.75", "1.00")
    assert labels(ticks(0, 40_000, 4)) == ("0", "10,000", "20,000", "30,000", "40,000")
    assert ticks(-0.31, 0.27, 3) == pytest.approx((-0.2, 0.0, 0.2))
    assert labels((-0.0, 0.5)) == ("0.0", "0.5")
    assert Scale(0, 2, 10, 110).pixel(1) == 60
    for value in (0.0, 3.0, -2.5):
        low, high = padded(value, value)
        assert low < value < high, "a range of one value is widened"


def test_differences_are_bars_from_the_best_to_the_worst_over_their_interval(qtbot: QtBot) -> None:
    chart = Chart("Differences")
    qtbot.addWidget(chart)
    chart.resize(400, 240)
    texts, edges = ("best", "none", "worst"), np.arange(4.0)
    better = Bars(edges, np.array([0.4, 0.0, 0.0]), "B better", describe=texts.__getitem__)
    worse = Bars(edges, np.array([0.0, 0.0, -0.6]), "B worse", "attention", texts.__getitem__)
    chart.show_layers((Band(-0.3, 0.2), better, worse), across="", up="B − A", summary="1 better, 1 worse.")
    assert chart.accessibleDescription() == "1 better, 1 worse."
    picture, shown = chart.grab().toImage(), chart._frame(chart.size().toSizeF())

    def at(bar: int, value: float) -> QPoint:
        return QPointF(shown.across.pixel(bar + 0.5), shown.up.pixel(value)).toPoint()

    colours = {(0, 0.3): "accent", (2, -0.5): "attention", (1, 0.1): "selection", (1, 0.3): "window"}
    for (bar, value), role in colours.items():
        assert picture.pixelColor(at(bar, value)) == theme.colour(role)
    with qtbot.waitSignal(chart.picked) as picked:
        QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=at(2, 0.2))
    assert picked.args == [2]


def test_a_plot_says_in_words_what_it_shows(histogram: Chart) -> None:
    assert histogram.accessibleDescription() == (
        "These: from 0.0000 to 1.0000. Unrelated: from 0.0000 to 1.0000. Threshold."
    )
