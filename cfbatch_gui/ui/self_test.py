"""`cfbatch-gui --self-test`: the checks of the core, then those of Qt, where what fails may end the process."""

import importlib
import io
import os
import pkgutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

import cfbatch_gui
from cfbatch_gui.core.messages import comma_list, counted_message, message
from cfbatch_gui.core.self_test import (
    Check,
    Finding,
    Report,
    checks_without_window,
    failed,
    ok,
    raised,
    run_guarded,
    too_late,
    warning,
)
from cfbatch_gui.core.system.languages import languages
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.without_window import (
    lacking,
    missing_sentence,
    watch_qt,
    way_to_install,
)

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

_QT = message("Window")
_QT_SECONDS = 120.0  # for all of Qt's checks together


def run_self_test(*, has_screen: bool, out: Path | None = None) -> NoReturn:
    """Print a line for each check, also into the file `out`, and end the process, with status 1 when one failed."""
    try:
        report = Report(_writer(out))
        _run_core(report)
        _run_qt(report, has_screen=has_screen)
        os._exit(report.end())
    except KeyboardInterrupt:
        os._exit(128 + signal.SIGINT)


def _run_core(report: Report) -> None:
    try:
        folder = tempfile.TemporaryDirectory(prefix="cfbatch-self-test-", ignore_cleanup_errors=True)
    except OSError as error:
        sentence = message(
            "No file can be made in it, so most checks are left out. Set TMPDIR to a folder that can be written. "
            "{reason}",
            reason=str(error),
        )
        report.add(message("Folder for temporary files"), failed(sentence))
        return
    with folder as name:
        report.run(checks_without_window(Path(name)))


def _writer(out: Path | None) -> Callable[[str], None]:
    streams: list[TextIO] = []
    if isinstance(sys.stdout, io.TextIOWrapper):  # None for a program of Windows without a console
        sys.stdout.reconfigure(errors="replace")
        streams.append(sys.stdout)
    if out is not None:
        streams.append(out.open("w", encoding="utf-8"))

    def write(line: str) -> None:
        for stream in streams[:]:
            try:
                stream.write(f"{line}\n")
                stream.flush()
            except OSError:  # nobody reads it any more, or the disk is full; the status still says what was found
                streams.remove(stream)

    return write


def _run_qt(report: Report, *, has_screen: bool) -> None:
    """Qt belongs to the main thread, so its checks cannot be left behind: when they hang, the process ends."""

    def give_up() -> None:
        report.add(_QT, too_late(_QT_SECONDS))
        report.end()
        os._exit(1)

    watch = threading.Timer(_QT_SECONDS, give_up)
    watch.daemon = True
    watch.start()
    try:
        checks = _checks_of_qt(report, has_screen=has_screen)
    except Exception as error:  # noqa: BLE001 # there is no check yet that could report it
        missing = lacking(error)
        report.add(_QT, failed(missing_sentence(missing)) if missing else raised(error))
    else:
        for check in checks:
            report.add(check.title, run_guarded(check))
    finally:
        watch.cancel()


def _checks_of_qt(report: Report, *, has_screen: bool) -> Sequence[Check]:
    """Raises ImportError when Qt cannot be loaded."""
    if not has_screen:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtWidgets import QApplication

    def end(reason: str) -> int:
        report.add(_QT, failed(message("Qt can show no window here: {text}", text=reason)))
        return report.end()

    watch_qt(end)
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)  # noqa: S101 # no other was made before
    return _qt_checks(app, has_screen=has_screen)


_ALIASES = frozenset({"Monospace", "Sans Serif", "Serif"})  # named by Qt itself on Linux, whatever fonts there are
_LATIN = message("Latin")
# Letters of scripts, and the packages of Debian whose fonts have them.
_SCRIPTS = (
    (_LATIN, "ABCxyzäéß", "fonts-noto-core"),
    (message("Greek"), "Ωμέγα", "fonts-noto-core"),
    (message("Cyrillic"), "Привет", "fonts-noto-core"),
    (message("Arabic"), "مرحبا", "fonts-noto-core"),
    (message("Hebrew"), "שלום", "fonts-noto-core"),
    (message("Devanagari"), "नमस्ते", "fonts-noto-core"),
    (message("Thai"), "สวัสดี", "fonts-noto-core"),
    (message("Chinese"), "你好", "fonts-noto-cjk"),
    (message("Japanese"), "こんにちは", "fonts-noto-cjk"),
    (message("Korean"), "안녕", "fonts-noto-cjk"),
)


def _qt_checks(app: "QApplication", *, has_screen: bool) -> tuple[Check, ...]:
    return (
        Check(message("Window"), lambda: _platform(app, has_screen=has_screen)),
        Check(message("Parts of the program"), _modules),
        Check(message("Pictures"), _pictures),
        Check(message("Fonts"), _fonts),
        Check(message("Words of Qt"), _words_of_qt),
    )


def _platform(app: "QApplication", *, has_screen: bool) -> Finding:
    from PySide6.QtCore import qVersion

    name = app.platformName()
    if has_screen:
        return ok(message("Qt {version} shows windows by “{platform}”.", version=qVersion(), platform=name))
    return ok(
        message(
            "Qt {version}. There is no screen here, so what follows was drawn in memory (“{platform}”).",
            version=qVersion(),
            platform=name,
        )
    )


def _modules() -> Finding:
    names = [each.name for each in pkgutil.walk_packages(cfbatch_gui.__path__, "cfbatch_gui.")]
    faults = []
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            faults.append(str(error))
    if not names:
        return failed(message("No part of the program can be listed. Install CF Batch again."))
    if faults:
        missing = comma_list(list(dict.fromkeys(faults)))
        return failed(message("Install CF Batch again: parts of it cannot be loaded. {errors}", errors=missing))
    return ok(counted_message(len(names), "{n} part can be loaded.", "{n} parts can be loaded."))


def _pictures() -> Finding:
    from PySide6.QtGui import QImageReader

    pictures = (resource("cfbatch.svg"), *resource("icons").glob("*.svg"), *resource("help/pictures").glob("*.png"))
    bad = [path.name for path in pictures if QImageReader(str(path)).read().isNull()]
    if bad:
        return failed(message("The picture {name} cannot be drawn.", name=comma_list(sorted(bad))))
    return ok(counted_message(len(pictures), "{n} picture can be drawn.", "{n} pictures can be drawn."))


def _fonts() -> Finding:
    missing = [(script, font) for script, letters, font in _SCRIPTS if not _has_letters(letters)]
    if not missing:
        return ok(message("There are letters for {scripts}.", scripts=comma_list([each[0] for each in _SCRIPTS])))
    sentence = message(
        "No font has the letters of {scripts}: boxes stand for them. {way_out}",
        scripts=comma_list([script for script, _ in missing]),
        way_out=way_to_install(
            [font for _, font in missing], otherwise=message("Install fonts for these scripts, such as Noto.")
        ),
    )
    return failed(sentence) if any(script == _LATIN for script, _ in missing) else warning(sentence)


def _has_letters(letters: str) -> bool:
    """Whether the fonts that Qt takes for this text have a glyph for each part of it; glyph 0 is the box."""
    from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication, QTextLayout

    if set(QFontDatabase.families()) <= _ALIASES:
        return False
    layout = QTextLayout(letters, QFont(QGuiApplication.font()))
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    glyphs: Sequence[int] = [glyph for run in layout.glyphRuns() for glyph in run.glyphIndexes()]
    return bool(glyphs) and 0 not in glyphs


def _words_of_qt() -> Finding:
    from PySide6.QtCore import QLibraryInfo

    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    wanted = [f"qtbase_{language.code}.qm" for language in languages()[1:]]
    if missing := [name for name in wanted if not (Path(folder) / name).is_file()]:
        return failed(message("Qt's own dialogs stay English, for want of: {files}", files=comma_list(missing)))
    return ok(message("Qt's own dialogs speak every language of the program."))
