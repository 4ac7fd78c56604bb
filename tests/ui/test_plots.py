"""Charts and the map of dots show what they were given, say what is under the mouse, and are exported."""

import csv
import io
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Band, Bars, Chart, Diagonal, DotMap, Dots, Mark, PictureButtons, PlotData, Steps
from cfbatch_gui.ui.plots.colours import by_category, by_cells, categories, plain
from cfbatch_gui.ui.plots.plot import Frame, describe_at, padded, ticks
from cfbatch_gui.ui.tasks import Tasks
from tests.ui.connections import drag

EDGES, COUNTS = np.array([0.0, 0.25, 0.5, 1.0]), np.array([3, 0, 8])


@pytest.fixture
def chart(qtbot: QtBot) -> Chart:
    chart = Chart("Scores")
    qtbot.addWidget(chart)
    chart.resize(500, 300)
    return chart


@pytest.fixture
def histogram(chart: Chart) -> Chart:
    outline = Steps(EDGES, COUNTS * 0.5, "Unrelated")
    layers = (Bars(EDGES, COUNTS, "These"), outline, Mark(0.4, "Threshold"))
    data = PlotData(("series", "from", "to"), [("These", 0.0, 0.25)])
    chart.show_layers(layers, across="Score", up="Contexts", data=lambda: data, summary="Many scores.")
    return chart


@pytest.fixture
def scatter(chart: Chart) -> Chart:
    x, y = np.array([0.0, 0.5, np.nan, 1.0]), np.array([0.0, 0.9, 0.5, 1.0])
    dots = Dots(x, y, describe=lambda index: ("=1+1", "second", "third", "fourth")[index])
    data = PlotData(("one", "text"), [(0.5, "=1+1")])
    chart.show_layers((Diagonal(), dots), across="one", up="other", data=lambda: data, summary="")
    return chart


def test_its_data_hold_no_live_formula(scatter: Chart) -> None:
    rows = list(csv.reader(io.StringIO(scatter.data().csv().decode("utf-8-sig"))))
    assert rows == [["one", "text"], ["0.5", "'=1+1"]]


def test_a_click_on_a_dot_brings_its_index(scatter: Chart) -> None:
    picked: list[int] = []
    scatter.picked.connect(picked.append)
    shown = scatter._frame(scatter.size().toSizeF())
    at = QPointF(shown.x(0.5), shown.y(0.9))
    QTest.mouseClick(scatter, Qt.MouseButton.LeftButton, pos=(at + QPointF(2, 2)).toPoint())
    QTest.mouseClick(scatter, Qt.MouseButton.LeftButton, pos=shown.box.topLeft().toPoint())
    assert picked == [1]
    assert describe_at(scatter.layers, shown, at) == ("second", 1)


async def test_it_is_saved_as_picture_drawing_and_table(histogram: Chart, notices: Notices, tmp_path: Path) -> None:
    buttons = PictureButtons(histogram, notices, Tasks(histogram, lambda error: None), None, "scores")
    for suffix in ("png", "svg", "csv"):
        await buttons.write(tmp_path / f"scores.{suffix}")
    assert not QImage(str(tmp_path / "scores.png")).isNull()
    root = ET.fromstring((tmp_path / "scores.svg").read_bytes())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "Threshold" in "".join(root.itertext())
    assert (tmp_path / "scores.csv").read_text(encoding="utf-8-sig").startswith("series,from,to")
    assert notices.texts()[-1] == "Wrote “scores.csv”."
    buttons.deleteLater()
    QApplication.sendPostedEvents()


@pytest.mark.parametrize(
    ("ends", "most", "written"),
    [
        ((0, 1), 4, ["0", "0.25", "0.5", "0.75", "1"]),
        ((0, 1), 5, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ((0, 40_000), 4, ["0", "10,000", "20,000", "30,000", "40,000"]),
        ((-0.31, 0.27), 3, ["-0.2", "0", "0.2"]),
    ],
)
def test_ticks_are_round_and_written_exactly(ends: tuple[float, float], most: int, written: list[str]) -> None:
    assert [text for _, text in ticks(ends, most * 50.0, 50.0)] == written


def test_a_range_of_one_value_is_widened() -> None:
    frame = Frame(QRectF(10, 0, 100, 50), (0, 2), (0, 1), ("", ""))
    assert (frame.x(1.0), frame.y(0.0)) == (60, 50)
    for value in (0.0, 3.0, -2.5):
        low, high = padded(np.array([value]))
        assert low < value < high


def test_differences_are_bars_from_the_best_to_the_worst_over_their_interval(qtbot: QtBot, chart: Chart) -> None:
    texts, edges = ("best", "none", "worst"), np.arange(4.0)
    better = Bars(edges, np.array([0.4, 0.0, 0.0]), "B better", describe=texts.__getitem__)
    worse = Bars(edges, np.array([0.0, 0.0, -0.6]), "B worse", "attention", texts.__getitem__)
    layers = (Band(-0.3, 0.2), better, worse)
    chart.show_layers(layers, across="", up="B − A", data=lambda: PlotData((), ()), summary="1 better, 1 worse.")
    assert chart.accessibleDescription() == "1 better, 1 worse."
    picture, shown = chart.grab().toImage(), chart._frame(chart.size().toSizeF())

    def at(bar: int, value: float) -> QPoint:
        return QPointF(shown.x(bar + 0.5), shown.y(value)).toPoint()

    colours = {(0, 0.3): "accent", (2, -0.5): "attention", (1, 0.1): "selection", (1, 0.3): "window"}
    for (bar, value), role in colours.items():
        assert picture.pixelColor(at(bar, value)) == theme.colour(role)
    with qtbot.waitSignal(chart.picked) as picked:
        QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=at(2, 0.2))
    assert picked.args == [2]


SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]], dtype=np.float32)


@pytest.fixture
def dots(qtbot: QtBot) -> DotMap:
    shown = DotMap("Map")
    qtbot.addWidget(shown)
    shown.resize(400, 300)
    shown.show()
    shown.show_points(SQUARE, lambda index: f"text {index}\nid {index}", lambda: PlotData(("x", "y"), SQUARE.tolist()))
    return shown


def at(dots: DotMap, index: int) -> QPoint:
    return dots.pixel_of(index).toPoint()


def test_a_click_brings_the_dot_and_away_from_it_none(dots: DotMap) -> None:
    picked: list[int] = []
    dots.picked.connect(picked.append)
    QTest.mouseClick(dots, Qt.MouseButton.LeftButton, pos=at(dots, 4) + QPoint(3, -2))
    QTest.mouseClick(dots, Qt.MouseButton.LeftButton, pos=(at(dots, 4) + at(dots, 0)) / 2)
    assert picked == [4, -1]


def test_a_lasso_holds_what_is_inside(dots: DotMap) -> None:
    held: list[list[int]] = []
    dots.lassoed.connect(lambda indexes: held.append(indexes.tolist()))
    dots.set_lasso(True)
    low, high = at(dots, 0) + QPoint(-12, 12), at(dots, 2) + QPoint(-40, -12)
    drag(dots, low, QPoint(high.x(), low.y()), high, QPoint(low.x(), high.y()), low)
    assert held == [[0, 3, 4]]


def test_dragging_and_the_wheel_move_and_zoom_where_the_mouse_is(dots: DotMap) -> None:
    before = dots.pixel_of(4)
    drag(dots, before.toPoint(), before.toPoint() + QPoint(30, 20))
    moved = dots.pixel_of(4)
    assert (moved - before).toPoint() == QPoint(30, 20)
    spread = dots.pixel_of(1).x() - dots.pixel_of(0).x()
    wheel = QWheelEvent(
        moved,
        dots.mapToGlobal(moved),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(dots, wheel)
    assert dots.pixel_of(4).x() == pytest.approx(moved.x(), abs=0.01)
    assert dots.pixel_of(1).x() - dots.pixel_of(0).x() > spread * 1.3
    assert dots.is_moved()
    QTest.keyClick(dots, Qt.Key.Key_0)
    assert (dots.pixel_of(4) - before).manhattanLength() < 0.01


def test_colours_are_those_of_the_categories_and_marked_ones_stand_out(dots: DotMap) -> None:
    dots.set_colours(by_category(np.array([0, 1, 1, 0, -1]), ["Lighting", "Garden"]))
    table = categories()
    image = dots.grab().toImage()
    for index, colour in ((0, table[0]), (1, table[1]), (4, table[-1])):
        assert np.abs(_pixel(image, dots.pixel_of(index)) - colour).max() < 70
    bright = _pixel(image, dots.pixel_of(1))
    dots.mark(np.array([0]))
    faint = _pixel(dots.grab().toImage(), dots.pixel_of(1))
    assert dots.svg().decode().count("<ellipse") + dots.svg().decode().count("<circle") >= 5
    window = np.array(theme.colour("window").getRgb()[:3])  # type: ignore[index]
    assert np.abs(faint - window).sum() < np.abs(bright - window).sum() / 2


def _pixel(image: QImage, point: QPointF) -> NDArray[np.int64]:
    ratio = image.devicePixelRatio()
    colour = image.pixelColor(round(point.x() * ratio), round(point.y() * ratio))
    return np.array([colour.red(), colour.green(), colour.blue()])


def test_a_name_stands_where_its_category_is_together() -> None:
    draw = np.random.default_rng(1)
    points = np.vstack(
        [draw.normal((-9, 0), 0.5, (50, 2)), draw.normal((9, 2), 0.5, (50, 2)), draw.normal(0, 9, (50, 2))]
    )
    colours = by_category(np.repeat([0, 1, 2], 50), ["left", "right", "everywhere"])
    ends = points.min(axis=0), points.max(axis=0)
    (left, at), (right, _) = colours.positions_of_names(points.astype(np.float32), *ends)
    assert (left, right) == ("left", "right")
    assert at == pytest.approx([-9, 0], abs=0.5)
    assert plain(150).positions_of_names(points.astype(np.float32), *ends) == []


def test_a_column_of_words_makes_categories_and_one_of_many_numbers_ranges() -> None:
    words = by_cells([*"bbbaa", "", *"ccdefghij"], "")
    assert (words.names, words.others) == (tuple("bacdefgh"), True)
    assert words.codes.tolist() == [0, 0, 0, 1, 1, 8, 2, 2, 3, 4, 5, 6, 7, 8, 8]
    numbers = by_cells([*(f"{number},5" for number in range(200)), ""], "")
    assert numbers.ordered and numbers.names[0] == "0.5 – 25.38"
    assert numbers.codes[[0, 24, 25, 199, 200]].tolist() == [0, 0, 1, 7, 8]
    assert by_cells(["1", "2", "1", "2"], "").names == ("1", "2")
    assert by_cells(["", ""], "").names == ()
