"""The book of judgements that a command measures by. It is only read."""

import argparse
import time
from contextlib import closing

from cfbatch_gui.cli.language import tr
from cfbatch_gui.core.evaluation.judged_documents import BookGrades, read_book_grades
from cfbatch_gui.core.judgements.book import USUAL_NAME, Shelf
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings


def add_judgements_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a book."""
    parser.add_argument(
        "--judgements",
        metavar=tr("BOOK"),
        help=tr("measure by this book of judgements besides the labels (default: the one that the window uses)"),
    )


def read_judgements(paths: Paths, name: str | None) -> BookGrades | None:
    """The judged pairs of a book, None for a book that is not there and was not asked for. Blocking.

    Raises UsageError for an unknown name, DataError.
    """
    with closing(Shelf(paths.judgements, read_only=True, clock=time.time)) as shelf:
        used = name or Settings.load(paths.settings).judgement_book or USUAL_NAME
        return read_book_grades(shelf.book(used)) if name or shelf.has(used) else None
