"""The arguments for how a file is read and for the roles of its columns."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path

from cfbatch_gui.cli.candidates import add_candidates_argument
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.language import tr
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import FileFormat, Kind, Layout, Mapping, ReadOptions, Role, Split
from cfbatch_gui.core.inputs.layouts import with_layout
from cfbatch_gui.core.inputs.readers.formats import listed_formats
from cfbatch_gui.core.inputs.recipes import Recipe, RecipeBook
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.paths import Paths

STANDARD_INPUT = Path("-")
_UNITS = {"line": FileFormat.LINES, "paragraph": FileFormat.PARAGRAPHS, "file": FileFormat.WHOLE}
_ANSWERS = {"yes": True, "no": False}


class Doubtful(StrEnum):
    """The values of `--doubtful`; without it such rows are left out too, but the command says so by its exit status."""

    SEND = "send"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """One `--role COLUMN=ROLE`."""

    column: str
    role: Role


def column_role(text: str) -> ColumnRole:
    """Parse COLUMN=ROLE, for argparse. A column's name may itself contain "="."""
    column, separator, role = text.rpartition("=")
    if not separator or not column:
        raise argparse.ArgumentTypeError(tr("“{text}” should be COLUMN=ROLE, for example title=text").format(text=text))
    try:
        return ColumnRole(column, Role(role.strip().lower()))
    except ValueError:
        sentence = tr("“{role}” is not a role; the roles are {roles}").format(role=role, roles=", ".join(Role))
        raise argparse.ArgumentTypeError(sentence) from None


@dataclass(frozen=True, slots=True)
class Reading:
    """The settings that override those that the program detects. `options` are for the first file, but whether
    doubtful rows are sent is for both.

    With a `recipe` the columns' roles are not guessed. The other settings take precedence over the recipe.
    """

    options: ReadOptions = field(default_factory=ReadOptions)
    recipe: Recipe | None = None
    layout: Layout | None = None
    template: str = ""
    split: Split | None = None

    def over(self, mapping: Mapping) -> Mapping:
        """The mapping with these settings applied. Raises UsageError for a layout that does not fit the files."""
        if self.layout is not None:
            changed = with_layout(mapping, self.layout)
            if changed.layout is not self.layout:
                raise UsageError(
                    message(
                        "The layout “{layout}” does not go with what is to be done with these files.",
                        layout=self.layout.value,
                    )
                )
            mapping = changed
        return replace(mapping, template=self.template or mapping.template, split=self.split or mapping.split)


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """Add FILE, FILE2, the options for what to do with them, and those for how they are read."""
    parser.add_argument(
        "file",
        metavar=tr("FILE"),
        type=Path,
        help=tr("{formats}, packed or not; a folder; “-” for standard input").format(
            formats=", ".join(map(said, listed_formats()))
        ),
    )
    parser.add_argument(
        "second", metavar=tr("FILE2"), type=Path, nargs="?", help=tr("one set of contexts for every query")
    )
    add_reading_arguments(parser)
    parser.add_argument(
        "--doubtful",
        type=Doubtful,
        choices=list(Doubtful),
        help=tr(
            "rows that may have been misread, in either file: send them as they were read, or skip them. Without this"
            " option they are skipped and listed, and the exit status is {status}"
        ).format(status=f"{ExitStatus.FAILED:d}"),
    )
    add_split_argument(parser)


def add_split_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--split`."""
    parser.add_argument(
        "--split",
        metavar=tr("TOKENS[:OVERLAP]"),
        type=split_size,
        help=tr("cut longer texts into parts of so many tokens; a ranking counts the best part"),
    )


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for what to do with the files and how they are read; `reading_of` also needs `split` and
    `doubtful`."""
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--rank", dest="kind", action="store_const", const=Kind.RANK, help=tr("order contexts by query"))
    kind.add_argument(
        "--embed", dest="kind", action="store_const", const=Kind.EMBED, help=tr("turn texts into vectors")
    )
    parser.add_argument(
        "--recipe",
        metavar=tr("NAME"),
        default="",
        help=tr("read and map the files as a recipe says that was saved in the window"),
    )
    parser.add_argument(
        "--role",
        dest="roles",
        metavar=tr("COLUMN=ROLE"),
        type=column_role,
        action="append",
        default=[],
        help=tr("what a column is for: {roles}").format(roles=", ".join(Role)),
    )
    layouts = [layout.value for layout in Layout if layout is not Layout.TEXTS]
    parser.add_argument(
        "--layout",
        metavar=tr("LAYOUT"),
        type=Layout,
        choices=list(Layout),
        help=tr("of a ranking: {layouts}").format(layouts=", ".join(layouts)),
    )
    parser.add_argument(
        "--encoding", metavar=tr("NAME"), help=tr("of the first file, such as utf-8, cp1252 or shift_jis")
    )
    parser.add_argument("--separator", metavar=tr("SIGN"), help=tr("of the first file: , ; | or tab"))
    parser.add_argument("--header", choices=tuple(_ANSWERS), help=tr("is the first row of the first file a header?"))
    parser.add_argument("--sheet", metavar=tr("NAME"), help=tr("of the first file, when it is a workbook"))
    parser.add_argument("--texts-by", choices=tuple(_UNITS), help=tr("how plain text is cut into texts"))
    add_candidates_argument(parser)
    parser.add_argument(
        "--template", metavar=tr("TEXT"), default="", help=tr("join columns, for example “{title}. {body}”")
    )


def split_size(text: str) -> Split:
    """Parse TOKENS[:OVERLAP], for argparse."""
    tokens, _, overlap = text.partition(":")
    try:
        return Split(int(tokens), int(overlap or 0))
    except ValueError:
        sentence = tr("“{text}” should be a number of tokens, for example 400 or 400:50").format(text=text)
        raise argparse.ArgumentTypeError(sentence) from None


def dollars(text: str) -> float:
    """Parse an amount of dollars, for argparse."""
    try:
        amount = float(text.removeprefix("$"))
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        sentence = tr("“{text}” should be an amount of dollars, for example 0.50").format(text=text)
        raise argparse.ArgumentTypeError(sentence)
    return amount


def settle_kind(arguments: argparse.Namespace, paths: Paths) -> None:
    """Look up `--recipe`, which also determines whether to rank or to embed. Raises UsageError."""
    arguments.recipe = RecipeBook(paths.recipes).recipe(arguments.recipe) if arguments.recipe else None
    if arguments.recipe is None:
        if arguments.kind is None:
            raise UsageError(message("Say what to do with the file: --rank or --embed, or --recipe NAME."))
        return
    kind = arguments.recipe.mapping.kind
    if arguments.kind not in (None, kind):
        does = (
            message("The recipe “{name}” ranks texts. Leave out --{kind}.")
            if kind is Kind.RANK
            else message("The recipe “{name}” turns texts into vectors. Leave out --{kind}.")
        )
        raise UsageError(does.filled(name=arguments.recipe.name, kind=arguments.kind.value))
    arguments.kind = kind


def reading_of(arguments: argparse.Namespace) -> Reading:
    """The reading settings of the command line. To be called after `settle_kind`."""
    options = ReadOptions(
        encoding=arguments.encoding,
        separator=arguments.separator,
        has_header=_ANSWERS.get(arguments.header or ""),
        sheet=arguments.sheet,
        unit=_UNITS.get(arguments.texts_by or ""),
        sends_doubtful=arguments.doubtful is Doubtful.SEND,
        candidates=arguments.candidates,
    )
    recipe: Recipe | None = arguments.recipe
    if recipe is not None:
        said = {each.name: value for each in fields(options) if (value := getattr(options, each.name)) is not None}
        options = replace(recipe.options, **said)
    return Reading(options, recipe, arguments.layout, arguments.template, arguments.split)


@contextmanager
def standard_input_as_file(path: Path) -> Iterator[Path]:
    """The path of the input; for “-” a temporary file with the content of standard input, removed after the block.

    “.” is made absolute, so that the path has a name. Raises UsageError for “-” when standard input is a terminal.
    """
    if path != STANDARD_INPUT:
        yield path if path.name else path.absolute()
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(message("“-” reads from another program: write “program | cfbatch …”, or name a file."))
    with tempfile.TemporaryDirectory(prefix="cfbatch-") as folder:
        copy = Path(folder) / "standard input"
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy
