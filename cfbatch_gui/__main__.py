"""`python -m cfbatch_gui` and `cfbatch-gui`: open the window."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cfbatch_gui import __version__
from cfbatch_gui.core.system.paths import default_root
from cfbatch_gui.core.system.process_hardening import forbid_core_dumps
from cfbatch_gui.core.system.secret_variables import take_secrets


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window and stay until it is closed; the exit status."""
    parser = argparse.ArgumentParser(prog="cfbatch-gui", description="Rank and embed texts with the Batch API.")
    parser.add_argument("file", nargs="?", type=Path, help="a file to start a new job with")
    parser.add_argument("--example", action="store_true", help="start with the example, on the practice service")
    parser.add_argument("--data-dir", type=Path, help="where jobs and settings are kept")
    parser.add_argument("--version", action="version", version=f"CF Batch {__version__}")
    parser.add_argument("--self-test", action="store_true", help="try what the program needs, and say what is missing")
    parser.add_argument("--out", type=Path, help="a file for the lines of --self-test too")
    arguments = parser.parse_args(argv)
    if arguments.self_test:
        forbid_core_dumps()
        take_secrets(os.environ)
        from cfbatch_gui.ui.self_test.whole import end_process, run_self_test

        end_process(run_self_test(has_screen=_has_screen(), out=arguments.out))
    if not _has_screen():
        print("There is no screen here. The terminal program “cfbatch” does the same work.", file=sys.stderr)  # noqa: T201
        return 2
    forbid_core_dumps()
    environ = take_secrets(os.environ)  # or a browser and a file manager would be given them
    from cfbatch_gui.ui.window.app import Start, open_window

    start = Start(root=arguments.data_dir or default_root(environ), file=arguments.file, with_example=arguments.example)
    return open_window(start, environ)


def _has_screen() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


if __name__ == "__main__":
    sys.exit(main())
