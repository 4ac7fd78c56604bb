"""argparse in the language chosen in Settings, which its gettext does not know.

People read their language; what programs read (`--json`, files, the log) stays English.
"""

import argparse
import csv
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from cfbatch_gui import __version__
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.paths import Paths, default_root
from cfbatch_gui.core.system.printing import put
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.words.figures import worded
from cfbatch_gui.words.languages import Language, language_of_system, load_language, tr

T = TypeVar("T")

# argparse knows no other way to be told a language; its sentences are those in resources/sentences.txt.
vars(argparse).update(_=tr, ngettext=lambda one, many, n: tr(one if n == 1 else many))


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, tr("usage: ") if prefix is None else prefix)

    def start_section(self, heading: str | None) -> None:
        own = {"positional arguments": tr("positional arguments"), "options": tr("options")}
        super().start_section(own.get(heading, heading) if heading else heading)

    def _get_help_string(self, action: argparse.Action) -> str:
        return (action.help or "").replace("%", "%%")


def checked(read: Callable[[str], T], words: str, **more: object) -> Callable[[str], T]:
    """For argparse: a ValueError becomes a sentence, of `words` with {text}."""

    def parse(text: str) -> T:
        try:
            return read(text)
        except ValueError:
            raise argparse.ArgumentTypeError(tr(words).format(text=text, **more)) from None

    return parse


def number_in(
    least: float, most: float, words: str, /, *, whole: bool = False, **more: object
) -> Callable[[str], float]:
    """A number in these bounds, for argparse."""

    def read(text: str) -> float:
        value = int(text) if whole else float(text.removeprefix("$").replace(",", "."))
        if not least <= value <= most:
            raise ValueError
        return value

    return checked(read, words, **more)


def names_in_line(text: str) -> tuple[str, ...]:
    """The names in a line of CSV, for argparse."""
    return tuple(next(csv.reader([text], skipinitialspace=True), ()))


DOLLARS: Final = number_in(0, 1e12, message("text_should_be_amount_dollars_example"))
_SECONDS: Final = number_in(0, 86_400, message("text_is_not_time_must_be"))
_DAYS: Final = number_in(0, 9_999, message("give_number_days_from_0_9999"), whole=True)
_PORT: Final = number_in(0, 65_535, message("text_is_not_port_must_be"), whole=True)
_TYPES: Final[Mapping[str, Callable[[str], object]]] = {
    **{"FILE": Path, "FILE2": Path, "PATH": Path, "DIR": Path, "K": int, "N": int, "BATCH": int, "SCORE": float},
    **{"NAMES": names_in_line, "COLUMNS": names_in_line},
    **{"DOLLARS": DOLLARS, "SECONDS": _SECONDS, "DAYS": _DAYS, "PORT": _PORT},
}


def described_options(text: str) -> Iterator[tuple[str, list[str], str, str]]:
    """Of each option its name, its values, how often argparse finds the value ("" for as usual), and its words.

    An option is a line, such as `--out FILE  the file to write`; further lines of it are indented. Without hyphens it
    is known by its place. `[FILE]` may be left out, `FILE...` may come several times, `yes|no` is a choice, and with
    `NAME!` the option may not be left out. What has no value is true where it is given, with `--[no-]` also false.
    """
    for option in re.split(r"\n(?! )", inspect.cleandoc(text)):
        head, words = option.split("  ", 1)
        name, *values = head.split()
        marked = re.fullmatch(r"(\[?)(.+?)(\.{3})?(\]|!)?", values[-1]) if values else None
        often = ""
        if marked is not None and (marked[1] or marked[3] or marked[4] == "!"):
            often = "!" if marked[4] == "!" else "*" if marked[1] and marked[3] else "+" if marked[3] else "?"
            values[-1] = marked[2]
        yield name, values, often, " ".join(words.split())


class Parser(argparse.ArgumentParser):
    """A parser without abbreviations; `-h` is among the arguments that all commands share."""

    def __init__(self, *, formatter_class: Any = HelpFormatter, parents: Sequence["Parser"] = (), **more: Any) -> None:
        super().__init__(
            **more, parents=list(parents), formatter_class=formatter_class, add_help=False, allow_abbrev=False
        )
        self._shared = parents
        self._actions_of_it: Any = None

    def add_action(self, name: str, words: str, act: Callable[..., object], *, required: bool = True) -> "Parser":
        """A command of this command, with the arguments that all take. `act`, which does it, stands in the call."""
        if self._actions_of_it is None:
            self._actions_of_it = self.add_subparsers(dest="action", metavar=tr("ACTION"), required=required)
        added: Parser = self._actions_of_it.add_parser(name, help=words, description=words, parents=self._shared)
        added.set_defaults(act=act)
        return added

    def add_options(self, text: str, how: Mapping[str, Any] = {}, /, **values: object) -> None:
        """Add what the text describes, with `values` in its words. `how` has types, or more that argparse is to do."""
        self._add_to(self, text, how, values)

    def add_help_and_version(self) -> None:
        self.add_argument("-h", "--help", action="help", help=tr("show this help message and exit"))
        version, words = f"CF Batch {__version__}", tr("show program's version number and exit")
        self.add_argument("--version", action="version", version=version, help=words)

    def one_of(self, text: str, how: Mapping[str, Any] = {}, /, *, required: bool = False) -> None:
        self._add_to(self.add_mutually_exclusive_group(required=required), text, how, {})

    def _add_to(
        self, group: argparse._ActionsContainer, text: str, how: Mapping[str, Any], values: Mapping[str, object]
    ) -> None:
        for name, metavars, often, words in described_options(text):
            own = how.get(name, {})
            more: dict[str, Any] = {"help": tr(words).format(**values) if values else tr(words)}
            if metavars and re.fullmatch(r"[a-z-]+(\|[a-z-]+)+", metavars[-1]):
                more["choices"] = metavars[-1].split("|")
            elif metavars:
                shown = [tr(each) if len(each) > 1 else each for each in metavars]
                more |= {"metavar": shown[0] if len(shown) == 1 else tuple(shown), "type": _TYPES.get(metavars[-1])}
            elif name.startswith("--[no-]"):
                more["action"] = argparse.BooleanOptionalAction
            elif not own:
                more["action"] = "store_true"
            if often == "!":
                more["required"] = True
            elif often == "+" and name.startswith("-"):
                more |= {"action": "append", "default": []}
            elif often:
                more["nargs"] = often
            more |= {"type": own} if callable(own) else own
            group.add_argument(name.replace("[no-]", ""), **more)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Of argparse: whatever it prints."""
        put(file or sys.stderr, message)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        sentence = worded("{program}: error: {sentence}", program=self.prog, sentence=message)
        self.exit(2, f"{sentence}\n")


def language_for(arguments: Sequence[str], environ: Mapping[str, str]) -> Language:
    """The language of Settings, else the environment's, else English; known before the arguments are parsed."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--data-dir", type=Path)
    try:
        root: Path | None = parser.parse_known_args(arguments)[0].data_dir
    except argparse.ArgumentError:
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
