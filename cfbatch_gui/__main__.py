"""`python -m cfbatch_gui` and `cfbatch-gui`: open the window."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cfbatch_gui.core.system.file_names import independent
from cfbatch_gui.core.system.later_start import Answer, hand_over
from cfbatch_gui.core.system.paths import Paths, default_root
from cfbatch_gui.core.system.processes import forbid_core_dumps, take_secrets
from cfbatch_gui.window_arguments import parsed, speak


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window and stay until it is closed; the exit status."""
    given = sys.argv[1:] if argv is None else argv
    arguments = parsed(given)
    if arguments.self_test:
        return _self_test(given, arguments.out)
    if not _has_screen():
        from cfbatch_gui.without_window import say_no_screen

        speak(given, os.environ)
        return say_no_screen()
    forbid_core_dumps()
    root = arguments.data_dir or default_root(os.environ)
    files = tuple(independent(file) for file in arguments.file if file)
    answer = hand_over(Paths(root), files, os.environ)
    if answer is Answer.TAKEN:
        return 0
    environ = take_secrets(os.environ)  # or a browser and a file manager would be given them
    from cfbatch_gui.without_window import lacking, say_no_window, watch_qt

    def end(reason: str) -> int:
        speak(given, environ)
        return say_no_window(reason, environ)

    try:
        from cfbatch_gui.ui.window.app import Start, open_window
    except ImportError as error:
        if not (missing := lacking(error)):
            raise
        return end(missing)
    watch_qt(end)
    is_silent = answer is Answer.SILENT
    return open_window(Start(root, files, with_example=arguments.example, is_window_silent=is_silent), environ)


def _self_test(given: Sequence[str], out: Path | None) -> int:
    forbid_core_dumps()
    take_secrets(os.environ)
    from cfbatch_gui.ui.self_test import run_self_test

    speak(given, os.environ)
    return run_self_test(has_screen=_has_screen(), out=out)


def _has_screen() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


if __name__ == "__main__":
    sys.exit(main())
