"""The commands of `cfbatch`, and what becomes of an error. Only the command that is named is imported."""

import argparse
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from cfbatch_gui.cli.console import Call, Console, ExitStatus, exit_statuses_help, handled_signals, status_of_error
from cfbatch_gui.cli.parser import Parser, language_for
from cfbatch_gui.core.errors import EncodingUnknown, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system import logs
from cfbatch_gui.core.system.file_names import check_utf8
from cfbatch_gui.core.system.paths import OVERRIDE, Paths, default_root
from cfbatch_gui.core.system.processes import forbid_core_dumps
from cfbatch_gui.words.figures import usage_error
from cfbatch_gui.words.languages import tr, use_language

_COMMANDS: Final = {
    "run": message("rank_or_embed_texts_file"),
    "match": message("closest_row_of_one_list"),
    "related": message("closest_rows_of_same_list"),
    "groups": message("groups_of_rows"),
    "search": message("find_texts_of_job_by_meaning"),
    "sort": message("category_for_each_row"),
    "attach": message("add_job_was_made_elsewhere_request"),
    "account": message("jobs_your_account_collects_also_those"),
    "connections": message("list_add_test_remove_ways_service"),
    "check": message("what_sending_file_would_come"),
    "jobs": message("list_all_jobs"),
    "show": message("show_one_job_what_results_amount"),
    "resume": message("go_on_unfinished_jobs"),
    "settle": message("decide_about_batch_unknown_outcome"),
    "export": message("write_job_results_file"),
    "compare": message("rankings_two_or_more_jobs"),
    "judgements": message("judgements_out_files_what_is_book"),
    "verify": message("hold_results_against_answers_are_kept"),
    "vectorize": message("job_vectors_index_cloudflare_vectorize"),
    "backup": message("all_jobs_one_file"),
    "practice": message("practice_service_other_programs"),
}

_LONGEST = 7.0  # seconds; a request that is being sent is waited for, up to five, as nobody would know of it else
_PATIENCE = 0.5  # seconds that a busy main thread, and then the other threads, have to end after a signal

_log = logging.getLogger(__name__)


def run_command_line(argv: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if argv is None else argv
    use_language(language_for(given, os.environ))
    return run_command(given)


def run_command(argv: Sequence[str]) -> int:
    console = Console()
    try:
        call = command_parser(argv).parse_args(argv, Call())
    except SystemExit as end:  # argparse has printed the reason
        return int(end.code or 0)
    forbid_core_dumps()
    data_dir = call.data_dir.absolute() if "data_dir" in call else default_root(os.environ)
    call.console, call.paths = console, Paths(data_dir)
    log_file = logs.set_up(call.paths)
    try:
        _check_names(argv, data_dir)
        status = call.run(call)
        return int((_run(status) if isinstance(status, Coroutine) else status) or ExitStatus.DONE)
    except UserError as error:
        _log.info("%s: %s (%s)", type(error).__name__, error.message, error.detail)
        console.say_error(error)
        if isinstance(error, EncodingUnknown):
            named = tr(" or ").join(f"--encoding {codec}" for codec in (error.guess, *error.others))
            console.tell("choose_options_or_save_file_utf", options=named)
        return status_of_error(error)
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - no caller would report it
        _log.exception("cfbatch %s failed", call.command)
        # The log is not there where the folder for the data was never made, or cannot be written.
        details = call.paths.log if call.paths.log.exists() else f"{type(error).__name__}: {logs.redacted(str(error))}"
        console.tell("cfbatch_something_went_wrong_should_not", details=details)
        return ExitStatus.FAILED
    finally:
        logs.shut_down(log_file)


def _check_names(argv: Sequence[str], data_dir: Path) -> None:
    """Raise UsageError for what could be neither kept nor found again."""
    if data_dir.is_file():
        raise usage_error("path_is_file_program_data_want", path=data_dir)
    check_utf8(*argv, str(data_dir))
    with suppress(FileNotFoundError):  # the working folder was deleted
        check_utf8(str(Path.cwd()))


def _run(command: Coroutine[Any, Any, int | None]) -> int | None:
    import asyncio  # which “cfbatch jobs” does without
    from concurrent.futures import ThreadPoolExecutor

    async def cancelled_by_signals() -> int | None:
        """Ctrl+C and SIGTERM cancel the command, which closes what it has open. Then the process ends, whatever its
        threads are at: what they leave on the disk is what a crash would leave.
        """
        loop, task, threads = asyncio.get_running_loop(), asyncio.current_task(), ThreadPoolExecutor()
        loop.set_default_executor(threads)
        is_heard = threading.Event()
        signals: list[int] = []

        def cancel() -> None:
            if task is not None and not is_heard.is_set():
                is_heard.set()
                task.cancel()

        def end() -> None:
            os._exit(128 + signals[0])

        def end_if_busy() -> None:
            if not is_heard.is_set():
                end()

        def hear(number: int, _: object) -> None:
            signals.append(number)
            if len(signals) > 1:  # the user insists, or what is being sent takes long
                end()
            loop.call_soon_threadsafe(cancel)
            for seconds, then in ((_PATIENCE, end_if_busy), (_LONGEST, end)):
                timer = threading.Timer(seconds, then)
                timer.daemon = True
                timer.start()

        # Wakes the loop, whichever thread gets the signal. Not on Windows, and only in the main thread.
        with suppress(NotImplementedError, RuntimeError):
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, cancel)
        with handled_signals(hear):
            try:
                return await command
            except asyncio.CancelledError:
                if not signals:
                    raise
                threads.shutdown(wait=False, cancel_futures=True)
                until = time.monotonic() + _PATIENCE
                for thread in threading.enumerate():
                    if thread is not threading.current_thread() and not thread.daemon:
                        thread.join(max(0.0, until - time.monotonic()))
                end()
                raise

    return asyncio.run(cancelled_by_signals())


def command_parser(argv: Sequence[str] | None = None) -> Parser:
    """Only the commands that `argv` names have options."""
    everywhere = Parser()
    everywhere.add_help_and_version()
    everywhere.add_options(
        "--data-dir DIR  where jobs are kept (default: {folder}; {variable} changes it)",
        {"--data-dir": {"default": argparse.SUPPRESS}},
        folder=default_root(os.environ),
        variable=OVERRIDE,
    )
    parser = Parser(
        prog="cfbatch",
        description=tr("Rank and embed texts with Cloudflare's Workers AI Batch API."),
        epilog=exit_statuses_help(),
        parents=[everywhere],
    )
    commands = parser.add_subparsers(dest="command", metavar=tr("COMMAND"), required=True)
    for name, words in _COMMANDS.items():
        command = commands.add_parser(name, help=tr(words), description=tr(words), parents=[everywhere])
        if argv is None or name in argv:
            module = import_module(f"cfbatch_gui.cli.{name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser
