"""`cfbatch connections probe`: check each assumption about the service, for less than a tenth of a cent."""

import argparse
import sys
from pathlib import Path
from typing import Final

from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.cli.secret_input import plain_interrupt
from cfbatch_gui.cli.working import opened
from cfbatch_gui.core.errors import OutcomeUnknown, UsageError
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.probe.findings import Outcome
from cfbatch_gui.core.workers_ai.probe.probe_report import counts_sentence, json_report, text_report
from cfbatch_gui.core.workers_ai.probe.probe_requests import ProbePlan
from cfbatch_gui.core.workers_ai.probe.probing import WAIT_SECONDS, ProbeResult

WORDS: Final = "check what is assumed of the service; sends small batches of its own, for less than $0.001"
_EPILOG: Final = """\
It says its price and asks, or wants --yes. Of each assumption of docs/protocol.md it says: held, not held, not seen.
The report has no token, no account id, no text of yours and only the beginning of request ids; it is sent nowhere.
Exit status 0: nothing that could be seen is otherwise than assumed, and every batch was finished.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cfbatch connections probe`."""
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("connection", metavar="NAME", help="its name or id")
    parser.add_argument("--model", metavar="M", help="the model to check (default: as set in the window)")
    parser.add_argument("--yes", action="store_true", help="agree to the price without being asked")
    parser.add_argument("--report", metavar="FILE", type=Path, help="write the report there too; as JSON for .json")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    parser.add_argument(
        "--wait",
        metavar="SECONDS",
        type=_seconds,
        default=WAIT_SECONDS,
        help=f"how long to wait for the batches (default: {WAIT_SECONDS:g})",
    )
    parser.set_defaults(act=run)


async def run(arguments: argparse.Namespace, data_dir: Path, console: Console) -> ExitStatus:
    """Ask, check, print the report and write it. Raises UserError."""
    report: Path | None = arguments.report
    _check_folder(report)
    async with opened(data_dir, Progress(console)) as program:
        found = program.address_book.find(arguments.connection)
        plan = program.connections.plan_probe(found, arguments.model or program.settings.model)
        is_practice = found == PRACTICE.id
        console.say(_what_it_does(program.address_book.title(found), plan, is_practice=is_practice))
        if not is_practice and not arguments.yes and not _agreed(console):
            console.say("Nothing was sent.")
            return ExitStatus.FAILED
        result = await program.connections.probe(found, plan, show=console.say, wait_seconds=arguments.wait)
    if report is not None:
        text = json_report(result) if report.suffix.lower() == ".json" else text_report(result)
        write_atomically(report, text.encode())
        console.say(f"Wrote the report to {report}. Look at it before you send it to anybody.")
    console.say(counts_sentence(result.findings))
    console.print_result((json_report(result) if arguments.json else text_report(result)).splitlines())
    return status_of(result)


def status_of(result: ProbeResult) -> ExitStatus:
    """The exit status for a check that came to its end."""
    if any(isinstance(each.error, OutcomeUnknown) for each in result.evidence.exchanges):
        return ExitStatus.OUTCOME_UNKNOWN
    is_whole = result.batches and all(each.form in result.evidence.finished() for each in result.batches)
    if not is_whole or any(each.outcome is Outcome.NOT_HELD for each in result.findings):
        return ExitStatus.FAILED
    return ExitStatus.DONE


def _check_folder(report: Path | None) -> None:
    folder = report.absolute().parent if report is not None else None
    if folder is not None and not folder.is_dir():
        raise UsageError(f"There is no folder “{folder}” to write the report to. Nothing was sent.")


def _what_it_does(title: str, plan: ProbePlan, *, is_practice: bool) -> str:
    batches = "one small batch" if len(plan.batches) == 1 else f"{len(plan.batches)} small batches"
    sends = f"This sends {batches} and one request without the queue to {plan.model.name} through “{title}”"
    if is_practice:
        return f"{sends}. It costs nothing: the practice service is on this computer."
    return f"{sends}, with texts of the program's own. It costs at most ${plan.price.dollars:.5f}."


def _agreed(console: Console) -> bool:
    """Ask on the terminal. Raises UsageError without one."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("Nothing was sent. Agree to this price with --yes.")
    console.write_error("Go on? [y/N] ")
    with plain_interrupt():
        return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError("give a number of seconds, from 0 to 86400")
    return seconds
