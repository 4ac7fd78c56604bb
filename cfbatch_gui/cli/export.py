"""`cfbatch export`: write a job's results to files."""

import asyncio
import locale
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from cfbatch_gui.cli.console import Call, ExitStatus
from cfbatch_gui.cli.jobs import found_jobs
from cfbatch_gui.cli.match_lines import opened_decisions
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.working import add_formats_argument, asked_outputs, say_file
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.exports import ExportOptions, Target, export, target_for
from cfbatch_gui.core.system.files import listing
from cfbatch_gui.core.versions import changed_since, removed_list
from cfbatch_gui.core.workers_ai.connection_kinds import title_of
from cfbatch_gui.words.figures import plural, usage_error
from cfbatch_gui.words.languages import said


def add_arguments(parser: Parser) -> None:
    parser.add_options("""
        job JOB  a job's id, the beginning of it, or its name
        --out PATH...  a file, or a folder, to write; may repeat
        --format F  the format of each --out (default: by its suffix)
    """)
    add_formats_argument(parser)
    parser.add_options("""
        --columns NAMES  columns to write, in that order, with commas between them; "a, b" in double quotes is one name
        --top-k K  of each query, only ranks up to K; ties stay
        --separator S  between the cells of CSV for Excel: a comma, a semicolon, a tab or a bar (default: as numbers are
            written here, a semicolon where they have a comma); between semicolons numbers have a decimal comma
        --numbers  in Excel, also the numbers of the vectors, a column for each
        --own-order  in Excel, all rows and columns of a ranking in the order of its file, with rank and score added
        --changed-since JOB  only what is new or changed since this earlier job; what is gone is listed in a file beside
            each
        --threshold SCORE  only scores from this one on
    """)


async def run(call: Call) -> int:
    if not call.out and not call.to:
        raise usage_error("say_where_write_out_path_or")
    job, *earlier = found_jobs(call, *filter(None, (call.job, call.changed_since)))
    folder = JobFolder(call.paths.job(job.id))
    outputs = _outputs(call, job)
    if not job.has_results and any(target.needs_results for _, target in outputs):
        raise usage_error("job_id_no_results_yet_cfbatch", id=job.id)
    options = ExportOptions(
        separator=call.separator or list_separator(),
        top_k=call.top_k,
        threshold=call.threshold,
        columns=call.columns,
        has_numbers=call.numbers,
        in_own_order=call.own_order,
    )
    changed = None
    if earlier:
        changed = await asyncio.to_thread(changed_since, job, earlier[0], lambda each: JobFolder(call.paths.job(each)))
        options = replace(options, items=changed.items)
    _check_use(call, job.kind, [target for _, target in outputs])
    title = title_of(call.settings.connections, job.connection)
    with listing(call.paths.unfinished), opened_decisions(call, job) as decisions:
        write = partial(export, folder, job, options=options, connection=title, say=said, decided=decisions.find)
        for path, target in outputs:
            with removed_list(changed, path) if changed else nullcontext() as removed:
                if changed is None or changed.items:
                    note = changed.note(removed) if changed else None
                    say_file(call.console, await asyncio.to_thread(write, path, target, note=note))
            if changed and not changed.items:
                call.console.tell("nothing_is_new_or_changed_path", path=path)
            if changed and removed:
                gone = plural(len(changed.removed), "{n} row is gone", "{n} rows are gone")
                call.console.tell("gone_is_listed_path", gone=gone, path=removed)
    if job.batches_done < len(job.batches):
        call.console.tell("job_is_not_whole_done_n", done=job.batches_done, n=len(job.batches))
        return ExitStatus.FAILED
    return ExitStatus.DONE


def _outputs(call: Call, job: Job) -> list[tuple[Path, Target]]:
    asked = asked_outputs(call, job.kind, [Path(job.source_path)], job.purpose)
    return [(path, target_for(path, job.kind, name, job.purpose)) for path, name in asked]


def _check_use(call: Call, kind: Kind, targets: list[Target]) -> None:
    if call.columns is not None and not any(target.has_columns for target in targets):
        raise usage_error("columns_no_use_here_columns_format")
    has_limits = any(target.has_limits for target in targets)
    if (call.top_k is not None or call.threshold is not None) and not has_limits:
        raise usage_error("top_k_threshold_no_use_here")
    has_workbook = any(target.is_workbook for target in targets)
    if call.numbers and not (has_workbook and kind is Kind.EMBED):
        raise usage_error("numbers_no_use_here_is")
    if call.own_order and not (has_workbook and kind is Kind.RANK):
        raise usage_error("own_order_no_use_here_is")
    if call.separator and not any(target.has_separator for target in targets):
        raise usage_error("separator_no_use_here_is_csv")


def list_separator() -> str:
    """What the user's spreadsheet program expects: ";" where the decimal point is a comma, else ","."""
    before = locale.setlocale(locale.LC_NUMERIC)
    try:
        locale.setlocale(locale.LC_NUMERIC, "")
        return ";" if locale.localeconv()["decimal_point"] == "," else ","
    except locale.Error:  # the environment names a locale that is not installed
        return ","
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)
