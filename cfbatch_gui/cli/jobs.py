"""`cfbatch jobs`: list all jobs."""

import argparse
from contextlib import closing
from functools import partial
from pathlib import Path

from cfbatch_gui.cli import report
from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.language import tr
from cfbatch_gui.cli.stored_jobs import mended, read_ledger
from cfbatch_gui.core.connections.address_book import title_of
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))


async def run(arguments: argparse.Namespace, data_dir: Path, console: Console) -> int:
    paths = Paths(data_dir)
    if arguments.json:
        with closing(read_ledger(paths, console)) as ledger:
            console.print_result([report.json_of_jobs(ledger.jobs())])
    elif jobs := mended(paths, console, Ledger.listed):
        saved = Settings.load(paths.settings).connections
        console.print_result(report.lines_of_jobs(jobs, console.width, partial(title_of, saved)))
    else:
        console.say(tr("There are no jobs yet. “cfbatch run FILE --rank” makes one."))
    return ExitStatus.DONE
