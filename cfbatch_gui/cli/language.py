"""What the terminal says: people read their language; what programs read (`--json`, files, the log) stays English."""

import sys
from argparse import ArgumentError, ArgumentParser
from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.languages import Language, language_in_use, language_of_system, load_language
from cfbatch_gui.core.system.paths import Paths, default_root
from cfbatch_gui.core.system.settings import Settings


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


def tr(text: str, context: str = "") -> str:
    """`context` tells apart what is one word in English and two elsewhere."""
    return language_in_use().translated(text, context)


def score(value: float) -> str:
    """With the digits of `core.results.numbers`, which takes longer to import than many a command to run."""
    return number(value, ".4f")


def worded(text: str, /, **values: object) -> str:
    """`text` in the language, with these values; numbers get its signs, and four decimals unless they are whole."""
    return filled(tr(text), values)


def plural(count: int, one: str, many: str, **others: object) -> str:
    return filled(language_in_use().translated_plural(one, many, count), {"n": count, **others})


def filled(text: str, values: Mapping[str, object]) -> str:
    """`text`, which is in the language, with values as those of `worded`."""
    return text.format(**{name: _shown(each) for name, each in values.items()})


def _shown(value: object) -> object:
    if isinstance(value, float):
        return score(value)
    return number(int(value)) if isinstance(value, Integral) else value


def usage_error(text: str, /, **values: object) -> UsageError:
    return UsageError(message(text, **values))


def number(value: float, specification: str = ",") -> str:
    return language_in_use().number(value, specification)


def percent(share: float, specification: str = ".0%") -> str:
    """Languages differ in the space before the sign."""
    return worded("{n}%", n=number(share, specification).rstrip("%"))


def figures(text: str) -> str:
    return language_in_use().signs(text)
