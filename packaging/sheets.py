"""Goes through every page and dialog in every look and size, says what does not fit, and saves sheets of pictures.

    make sheets                         all of it; takes some minutes
    make sheets ARGS="german pseudo"    only the looks whose names begin so

Each language with the usual and with a doubled font, at 800×500, 1366×768 and 1920×1080; the scheme goes round, so
that each meets each look and each size. At 200 % of the pixels a process of its own takes 1920×1080. A sheet for each
look and size in build/sheets, with the pictures themselves beside it; the exit status is 1 if anything does not fit.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.window import loop
from tests.screen.fits import faults
from tests.screen.look import Language, Look, put_on
from tests.screen.stage import Stage
from tests.screen.tour import Past, Tour, settled
from tests.support.faulty_service import ThreadedService

BUILD = Path(__file__).parent.parent / "build" / "sheets"
SIZES = ((800, 500), (1366, 768), (1920, 1080))
SCHEMES = (Scheme.LIGHT, Scheme.DARK, Scheme.HIGH_CONTRAST)
SCREEN = (2200, 1400)  # the largest window, and dialogs beside it
_ACROSS, _WIDTH, _HEADING, _GAP = 6, 480, 18, 8  # of a sheet: pictures, and pixels


def main(wanted: Sequence[str]) -> int:
    """Run this process for 100 % and another one for 200 %."""
    if os.environ.get("QT_SCALE_FACTOR") is None:
        with tempfile.TemporaryDirectory() as name:
            screen = Path(name) / "screen.json"
            wide = {"name": "one", "x": 0, "y": 0, "width": SCREEN[0], "height": SCREEN[1], "logicalDpi": 96}
            screen.write_text(json.dumps({"screens": [wide | {"logicalBaseDpi": 96, "dpr": 1}]}), encoding="utf-8")
            environ = os.environ | {"QT_QPA_PLATFORM": f"offscreen:configfile={screen}"}
            command = [sys.executable, __file__, *wanted]
            return max(
                subprocess.run(command, env=environ | {"QT_SCALE_FACTOR": factor}, check=False).returncode
                for factor in ("1", "2")
            )
    application = QApplication(sys.argv[:1])
    application.setCursorFlashTime(0)
    theme = Theme(Scheme.LIGHT)
    theme.apply(application)
    return loop.run(application, lambda: go_through(theme, wanted))


async def go_through(theme: Theme, wanted: Sequence[str]) -> int:
    """Open a window in each look."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    is_doubled = application.devicePixelRatio() > 1
    sizes = [(960, 540)] if is_doubled else SIZES  # the same 1920×1080 pixels
    looks = [Look(language, doubled) for doubled in (False, True) for language in Language]
    found = 0
    with tempfile.TemporaryDirectory() as name, ThreadedService(Path(name) / "service").opened() as service:
        past = Past(Path(name) / "past", service)
        await past.make()
        for number, look in enumerate(looks):
            if wanted and not str(look).startswith(tuple(wanted)):
                continue
            pictures = Pictures(look, sizes, number, theme, "200" if is_doubled else "100")
            with put_on(look, application, theme):
                async with past.opened(theme) as stage:
                    await Tour(stage, past, pictures.visit).go()
            found += pictures.finish()
    return int(found > 0)


class Pictures:
    """What is taken of one look: a folder of pictures for each size, the sheet of them, and what does not fit."""

    def __init__(self, look: Look, sizes: Sequence[tuple[int, int]], number: int, theme: Theme, percent: str) -> None:
        self._look, self._sizes, self._theme = look, sizes, theme
        self._scheme = {size: SCHEMES[(number + index) % len(SCHEMES)] for index, size in enumerate(sizes)}
        self._folder = {size: BUILD / f"{look}-{size[0]}x{size[1]}-{percent}-{self._scheme[size]}" for size in sizes}
        self._taken: dict[tuple[int, int], list[Path]] = {size: [] for size in sizes}
        self._faults: dict[str, str] = {}

    async def visit(self, stage: Stage, name: str, window: QWidget) -> None:
        """Take the window in every size."""
        usual = window.size()
        for size in self._sizes:
            main = stage.workspace.window
            self._theme.set_scheme(self._scheme[size])
            if window is main:
                window.resize(*size)
            elif isinstance(window, QDialog):
                window.resize(usual.boundedTo(main.size().scaled(*size, Qt.AspectRatioMode.IgnoreAspectRatio)))
            await settled(stage)
            for fault in faults(window, may_scroll_sideways=self._look.may_scroll_sideways(size[0])):
                self._faults.setdefault(fault, f"{name}, {size[0]}×{size[1]}")
            if window is main and window.size().toTuple() != size:
                self._faults.setdefault(f"the window is {window.size().toTuple()}", name)
            path = self._folder[size] / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            window.grab().save(str(path))
            self._taken[size].append(path)

    def finish(self) -> int:
        """Make the sheets, and say what does not fit; how many faults there are."""
        for size, paths in self._taken.items():
            sheet(paths).save(str(self._folder[size].with_suffix(".png")))
        print(f"{self._look}: {sum(map(len, self._taken.values()))} pictures, {len(self._faults)} faults", flush=True)
        for fault, where in self._faults.items():
            print(f"  {where}: {fault}", flush=True)
        return len(self._faults)


def sheet(paths: Sequence[Path]) -> QImage:
    """All pictures in rows, each under its name."""
    images = [QImage(str(path)) for path in paths]
    scaled = [
        image.scaledToWidth(_WIDTH, Qt.TransformationMode.SmoothTransformation) if image.width() > _WIDTH else image
        for image in images
    ]
    rows = [range(start, min(start + _ACROSS, len(scaled))) for start in range(0, len(scaled), _ACROSS)]
    heights = [max(scaled[index].height() for index in row) + _HEADING + _GAP for row in rows]
    whole = QImage(_ACROSS * (_WIDTH + _GAP), sum(heights), QImage.Format.Format_RGB32)
    whole.fill(QColor("#808080"))
    painter = QPainter(whole)
    painter.setPen(QColor("#ffffff"))
    top = 0
    for row, height in zip(rows, heights, strict=True):
        for column, index in enumerate(row):
            left = column * (_WIDTH + _GAP)
            painter.drawText(QRect(left + 4, top, _WIDTH, _HEADING), Qt.AlignmentFlag.AlignVCenter, paths[index].stem)
            painter.drawImage(left, top + _HEADING, scaled[index])
        top += height
    painter.end()
    return whole


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
