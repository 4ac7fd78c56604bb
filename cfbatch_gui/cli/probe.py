"""`cfbatch connections probe`: check each assumption about the service, for less than a tenth of a cent."""

import argparse
from pathlib import Path
from typing import Final

from cfbatch_gui.cli.console import Console, agreed
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.language import number, plural, tr
from cfbatch_gui.cli.parser import Parser, RawHelpFormatter
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.cli.working import opened
from cfbatch_gui.core.errors import OutcomeUnknown, UsageError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.probe import (
    WAIT_SECONDS,
    Outcome,
    ProbePlan,
    ProbeResult,
    counts_sentence,
    json_report,
    text_report,
)

WORDS: Final = message("check what is assumed of the service; sends small batches of its own, for less than $0.001")
_EPILOG: Final = message(
    """\
It says its price and asks, or wants --yes. Of each assumption of docs/protocol.md it says: held, not held, not seen.
The report has no token, no account id, no text of yours and only the beginning of request ids; it is sent nowhere.
Exit status 0: nothing that could be seen is otherwise than assumed, and every batch was finished."""
)
_WITHOUT_TERMINAL: Final = message("Nothing was sent. Agree to this price with --yes.")


def add_arguments(parser: Parser) -> None:
    parser.epilog = said(_EPILOG)
    parser.formatter_class = RawHelpFormatter
    parser.add_argument("connection", metavar=tr("NAME"), help=tr("its name or id"))
    parser.add_argument("--model", metavar="M", help=tr("the model to check (default: as set in the window)"))
    parser.add_argument("--yes", action="store_true", help=tr("agree to the price without being asked"))
    parser.add_argument(
        "--report", metavar=tr("FILE"), type=Path, help=tr("write the report there too; as JSON for .json")
    )
    parser.add_argument("--json", action="store_true", help=tr("print the report as one JSON object"))
    parser.add_argument(
        "--wait",
        metavar=tr("SECONDS"),
        type=_seconds,
        default=WAIT_SECONDS,
        help=tr("how long to wait for the batches (default: {n})").format(n=number(WAIT_SECONDS, "g")),
    )
    parser.set_defaults(act=run)


async def run(arguments: argparse.Namespace, data_dir: Path, console: Console) -> ExitStatus:
    report: Path | None = arguments.report
    _check_folder(report)
    async with opened(data_dir, Progress(console)) as program:
        found = program.address_book.find(arguments.connection)
        plan = program.connections.plan_probe(found, arguments.model or program.settings.model)
        is_practice = found == PRACTICE.id
        console.say(_what_it_does(said(program.address_book.title(found)), plan, is_practice=is_practice))
        if not is_practice and not arguments.yes and not agreed(console, _WITHOUT_TERMINAL):
            console.say(tr("Nothing was sent."))
            return ExitStatus.FAILED
        result = await program.connections.probe(
            found, plan, show=lambda sentence: console.say(said(sentence)), wait_seconds=arguments.wait
        )
    if report is not None:
        text = json_report(result) if report.suffix.lower() == ".json" else text_report(result)
        write_atomically(report, text.encode())
        sentence = tr("Wrote the report to {path}. Look at it before you send it to anybody.")
        console.say(sentence.format(path=report))
    console.say(said(counts_sentence(result.findings)))
    console.print_result((json_report(result) if arguments.json else text_report(result)).splitlines())
    return status_of(result)


def status_of(result: ProbeResult) -> ExitStatus:
    if any(isinstance(each.error, OutcomeUnknown) for each in result.evidence.exchanges):
        return ExitStatus.OUTCOME_UNKNOWN
    is_whole = result.batches and all(each.form in result.evidence.finished() for each in result.batches)
    if not is_whole or any(each.outcome is Outcome.NOT_HELD for each in result.findings):
        return ExitStatus.FAILED
    return ExitStatus.DONE


def _check_folder(report: Path | None) -> None:
    folder = report.absolute().parent if report is not None else None
    if folder is not None and not folder.is_dir():
        raise UsageError(message("There is no folder “{path}” to write the report to. Nothing was sent.", path=folder))


def _what_it_does(title: str, plan: ProbePlan, *, is_practice: bool) -> str:
    sends = plural(
        len(plan.batches),
        "This sends one small batch and one request without the queue to {model} through “{connection}”",
        "This sends {n} small batches and one request without the queue to {model} through “{connection}”",
        model=plan.model.name,
        connection=title,
    )
    if is_practice:
        return tr("{sends}. It costs nothing: the practice service is on this computer.").format(sends=sends)
    return tr("{sends}, with texts of the program's own. It costs at most ${amount}.").format(
        sends=sends, amount=number(plan.price.dollars, ".5f")
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(tr("give a number of seconds, from 0 to 86400"))
    return seconds
