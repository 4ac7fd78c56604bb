"""`python -m cfbatch_gui` and `cfbatch-gui`: open the window."""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence

from cfbatch_gui.cli.parser import Parser, language_for
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.file_names import check_utf8, independent
from cfbatch_gui.core.system.paths import default_root
from cfbatch_gui.core.system.processes import forbid_core_dumps, take_secrets
from cfbatch_gui.without_window import lacking, say_no_screen, say_no_window, watch_qt
from cfbatch_gui.words.languages import tr, use_language


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window and stay until it is closed; the exit status."""
    given = sys.argv[1:] if argv is None else argv
    use_language(language_for(given, os.environ))
    arguments = _parsed(given)
    if not arguments.self_test and not _has_screen():
        return say_no_screen()
    forbid_core_dumps()
    environ = take_secrets(os.environ)  # or a browser and a file manager would be given them
    if arguments.self_test:
        from cfbatch_gui.ui.self_test import run_self_test

        run_self_test(has_screen=_has_screen(), out=arguments.out)
    try:
        from cfbatch_gui.ui.window.app import Start, open_window
    except ImportError as error:
        if not (missing := lacking(error)):
            raise
        return say_no_window(missing, environ)
    watch_qt(lambda reason: say_no_window(reason, environ))
    files = tuple(independent(file) for file in arguments.file if file)
    root = arguments.data_dir or default_root(environ)
    return open_window(Start(root, files, with_example=arguments.example), environ)


def _parsed(given: Sequence[str]) -> Namespace:
    """The arguments. Ends the process after --help and --version, and when it refuses an argument."""
    parser = Parser(
        prog="cfbatch-gui", description=tr("Rank and embed texts with Cloudflare's Workers AI Batch API, in a window.")
    )
    parser.add_help_and_version()
    parser.add_options(
        """
        file [FILE...]  a file or a folder to start a new job with, for each a job of its own
        --example  start with the example, on the practice service
        --data-dir DIR  where jobs and settings are kept
        --self-test  try everything that the program needs, say what is missing, and end; opens no window
        --out FILE  with --self-test: write its lines to this file too
        """,
        {"file": {"type": str}},
    )
    found = parser.parse_args(given)
    if found.out is not None and not found.self_test:
        parser.error(message("out_no_use_without_self_test"))
    try:
        if found.out is not None:
            found.out.write_bytes(b"")
        check_utf8(str(found.data_dir.absolute() if found.data_dir else ""))
    except OSError as error:
        parser.error(message("path_cannot_be_written_reason", path=found.out, reason=error.strerror))
    except UsageError as error:
        parser.error(error.message)
    return found


def _has_screen() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


if __name__ == "__main__":
    sys.exit(main())
