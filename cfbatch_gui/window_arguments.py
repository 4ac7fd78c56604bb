"""The arguments of `cfbatch-gui`. Help and refusals are in the user's language, as the terminal's are."""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.file_names import check_utf8

_P = TypeVar("_P", bound=argparse.ArgumentParser)


def parsed(given: Sequence[str]) -> argparse.Namespace:
    """The arguments of a start. Ends the process after --help and --version, and when it refuses an argument.

    The words for that take 40 ms to import, so a parser without words comes first: what it does not know is left to the
    one with words.
    """
    try:
        found = _with_arguments(_Wordless(add_help=False, allow_abbrev=False), str).parse_args(given)
    except _RefusedError:
        return _worded(given).parse_args(given)
    if found.out is not None:
        _check_out(given, found)
    if found.data_dir is not None:
        try:
            check_utf8(str(found.data_dir.absolute()))
        except UsageError as error:
            _worded(given).error(error.message)
    return found


def _check_out(given: Sequence[str], found: argparse.Namespace) -> None:
    """Refuse what cannot be written; the file is there afterwards, and empty."""
    if not found.self_test:
        _worded(given).error(message("--out has no use without --self-test."))
    try:
        found.out.write_bytes(b"")
    except OSError as error:
        sentence = message("“{path}” cannot be written: {reason}", path=found.out, reason=error.strerror)
        _worded(given).error(sentence)


def speak(given: Sequence[str], environ: Mapping[str, str]) -> None:
    """Choose the user's language for what is said without a window."""
    from cfbatch_gui.cli.language import language_for
    from cfbatch_gui.core.system.languages import use_language

    try:
        use_language(language_for(given, environ))
    except (RuntimeError, ImportError):  # a user without a home folder, a broken installation: English
        return


class _RefusedError(Exception):
    pass


class _Wordless(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _RefusedError


def _with_arguments(parser: _P, tr: Callable[[str], str]) -> _P:
    parser.add_argument(
        "file", nargs="*", help=tr("a file or a folder to start a new job with, for each a job of its own")
    )
    parser.add_argument("--example", action="store_true", help=tr("start with the example, on the practice service"))
    parser.add_argument("--data-dir", type=Path, metavar=tr("DIR"), help=tr("where jobs and settings are kept"))
    parser.add_argument(
        "--self-test",
        action="store_true",
        help=tr("try everything that the program needs, say what is missing, and end; opens no window"),
    )
    parser.add_argument(
        "--out", type=Path, metavar=tr("FILE"), help=tr("with --self-test: write its lines to this file too")
    )
    return parser


def _worded(given: Sequence[str]) -> argparse.ArgumentParser:
    speak(given, os.environ)
    from cfbatch_gui.cli.language import tr
    from cfbatch_gui.cli.parser import Parser

    parser = Parser(
        prog="cfbatch-gui", description=tr("Rank and embed texts with Cloudflare's Workers AI Batch API, in a window.")
    )
    parser.add_help_and_version()
    return _with_arguments(parser, tr)
