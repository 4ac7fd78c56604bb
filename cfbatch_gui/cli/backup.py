"""`cfbatch backup`: write all jobs to one file."""

from cfbatch_gui.cli.console import Call
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.core.jobs.store.data_folder import back_up
from cfbatch_gui.core.system.files import listing


def add_arguments(parser: Parser) -> None:
    parser.add_options("file FILE  the zip file to write")


async def run(call: Call) -> None:
    with listing(call.paths.unfinished):
        count = back_up(call.paths, call.file)
    call.console.tell("wrote_n_files_path_restore_unpack", n=count, path=call.file)
