"""`cfbatch backup`: write all jobs to one file."""

import argparse

from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.language import plural
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.core.jobs.store.data_folder import back_up
from cfbatch_gui.core.system.files import listing
from cfbatch_gui.core.system.paths import Paths


def add_arguments(parser: Parser) -> None:
    parser.add_options("file FILE  the zip file to write")


async def run(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    with listing(paths.unfinished):
        count = back_up(paths, arguments.file)
    console.say(
        plural(
            count,
            "Wrote {n} file to {path}. To restore, unpack it as the data folder.",
            "Wrote {n} files to {path}. To restore, unpack it as the data folder.",
            path=arguments.file,
        )
    )
    return ExitStatus.DONE
