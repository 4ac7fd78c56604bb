"""What the terminal says: people read their language; what programs read (`--json`, files, the log) stays English."""

import sys
from argparse import ArgumentError, ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path

from cfbatch_gui.core.system.paths import Paths, default_root
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.words.languages import Language, language_of_system, load_language


def language_for(arguments: Sequence[str], environ: Mapping[str, str]) -> Language:
    """The language of Settings, else the environment's, else English; known before the arguments are parsed."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--data-dir", type=Path)
    try:
        root: Path | None = parser.parse_known_args(arguments)[0].data_dir
    except ArgumentError:
        root = None
    paths = Paths(root.absolute() if root is not None else default_root(environ))
    return load_language(Settings.load(paths.settings).language or language_of_system(environ, _preferred()))


def _preferred() -> tuple[str, ...]:
    """The language of Windows itself, which sets none of the variables; terminals of macOS and Linux set LANG."""
    if sys.platform != "win32":
        return ()
    import ctypes
    import locale

    return (locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), ""),)
