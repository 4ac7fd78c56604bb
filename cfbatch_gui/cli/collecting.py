"""Whether a Worker collects answers in the user's account: options of `connections add`, and `connections change`."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Final

from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.language import plural, tr
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.cli.working import opened
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.settings import SavedConnection

WORDS: Final = message("change whether a Worker collects answers in your account")


def add_arguments(parser: Parser) -> None:
    """Add the options of `cfbatch connections change`."""
    parser.add_argument("connection", metavar=tr("NAME"), help=tr("its name or id"))
    add_collecting_options(parser)
    parser.set_defaults(act=run)


def add_collecting_options(parser: Parser) -> None:
    """Add `--collects`, `--no-collects` and `--keep-days`."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--collects",
        action="store_true",
        default=None,
        help=tr("of a Worker: your account collects the answers of its jobs, so that the computer may be turned off"),
    )
    group.add_argument(
        "--no-collects",
        dest="collects",
        action="store_false",
        default=None,
        help=tr("of a Worker: the answers are asked for from this computer (the default)"),
    )
    parser.add_argument(
        "--keep-days",
        metavar=tr("DAYS"),
        type=_days,
        help=tr("of a Worker: how long your account keeps its copies when all answers are here (default: 0)"),
    )


async def run(arguments: argparse.Namespace, data_dir: Path, console: Console) -> ExitStatus:
    """Change a connection to a Worker. Raises UserError."""
    if arguments.collects is None and arguments.keep_days is None:
        raise UsageError(message("Say what is to change: --collects, --no-collects or --keep-days DAYS."))
    async with opened(data_dir, Progress(console)) as program:
        found = program.address_book.find(arguments.connection)
        record = next((each for each in program.address_book.saved() if each.id == found), None)
        if record is None:  # the practice service, which is not saved
            record = SavedConnection(found, "", "cloudflare")
        record = await program.connections.save(as_asked(record, arguments))
    console.say(collecting_words(record))
    return ExitStatus.DONE


def as_asked(record: SavedConnection, arguments: argparse.Namespace) -> SavedConnection:
    """The connection, collecting as the arguments say. Raises UsageError for one that is no Worker."""
    collects = record.collects if arguments.collects is None else arguments.collects
    days = record.keep_days if arguments.keep_days is None else arguments.keep_days
    if record.kind != "worker" and (arguments.collects is not None or arguments.keep_days is not None):
        raise UsageError(
            message("Only a Worker of your own can collect answers in your account. Name the connection of one.")
        )
    return replace(record, collects=collects, keep_days=days)


def collecting_words(record: SavedConnection) -> str:
    """Who collects the answers of a Worker's jobs, and for how long the account keeps them."""
    if not record.collects:
        return tr("“{name}”: the answers are asked for from this computer.").format(name=record.name)
    if not record.keep_days:
        words = tr("“{name}”: your account collects the answers, and deletes its copies when all of them are here.")
        return words.format(name=record.name)
    return plural(
        record.keep_days,
        "“{name}”: your account collects the answers, and keeps its copies for {n} day when all of them are here.",
        "“{name}”: your account collects the answers, and keeps its copies for {n} days when all of them are here.",
        name=record.name,
    )


def _days(text: str) -> int:
    """Parse a number of days, for argparse."""
    days = int(text) if text.isdecimal() and text.isascii() and len(text) <= 4 else -1
    if days < 0:
        raise argparse.ArgumentTypeError(tr("give a number of days, from 0 to 9999"))
    return days
