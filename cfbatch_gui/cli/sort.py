"""`cfbatch sort`: one of your categories for each row of a list, or none."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from cfbatch_gui.cli import match, reading
from cfbatch_gui.cli import run as running
from cfbatch_gui.cli.console import Call
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.core.inputs.column_names import index_of
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.jobs.states import MatchOptions, Purpose, SortOptions
from cfbatch_gui.core.judgements.values import CATEGORIES
from cfbatch_gui.core.results.categories import sentences_of
from cfbatch_gui.words.figures import usage_error
from cfbatch_gui.words.languages import tr

EXAMPLES = """
  cfbatch sort answers.xlsx --categories codes.txt --out sorted.xlsx
  cfbatch sort letters.csv --category "Price: too dear | a bargain" --category "Delivery" --right Kind
"""


def add_arguments(parser: Parser) -> None:
    parser.epilog = tr("examples:") + EXAMPLES
    parser.add_options("""
        file FILE  the list, which comes back with a category for each row
        --categories FILE2  a file with the categories: a line for each, such as “Price: too dear | a bargain”, whose
            examples are averaged, or a table with their names and what belongs there
        --category TEXT...  a category as such a line; may repeat
        --right COLUMN  the column that has the right category for some rows: how often it is given, and which are taken
            for which
    """)
    match.add_threshold_argument(parser)
    match.add_text_arguments(parser)
    match.add_decision_arguments(parser)
    running.add_sending_arguments(parser)
    parser.set_defaults(within=None, not_within=None)


async def run(call: Call) -> int:
    if bool(call.categories) == bool(call.category):
        raise usage_error("say_categories")
    with TemporaryDirectory(prefix="cfbatch-", ignore_cleanup_errors=True) as folder:
        call.second = call.categories or _written(call.category, Path(folder) / "categories.jsonl")
        matching, sorting = MatchOptions(threshold=call.threshold), SortOptions(right_column=call.right or "")
        options = {"purpose": Purpose.CATEGORIES, "matching": matching, "sorting": sorting}
        return await match.run_lists(call, partial(_open, Path(folder)), CATEGORIES, **options)


def _open(folder: Path, call: Call, first: Path, second: Path | None) -> reading.Inputs:
    """The list and its categories; a file of one column has them as lines."""
    if call.categories is not None and len((source := open_source(call.categories)).columns) == 1:
        second = _written([row.cells[0] for row in read_rows(source)], folder / f"{call.categories.stem}.jsonl")
    inputs = match.open_lists(call, first, second)
    if call.right and index_of(call.right, inputs.source.columns) is None:
        raise usage_error("list_has_no_column", list="A", name=call.right)
    return inputs


def _written(lines: Sequence[str], path: Path) -> Path:
    """A file with each example of these categories in a row of its own."""
    path.write_text("".join(json.dumps({"category": each}) + "\n" for each in sentences_of(lines)), "utf-8")
    return path
