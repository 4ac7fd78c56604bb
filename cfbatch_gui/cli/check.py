"""`cfbatch check`: what would be sent and what it may cost; nothing is sent or kept."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from cfbatch_gui.cli import reading, working
from cfbatch_gui.cli.console import Call, ExitStatus, fields_of, labelled
from cfbatch_gui.cli.jobs import read_ledger
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.core.connections.address_book import service_mark_at
from cfbatch_gui.core.errors import EncodingUnknown, UserError
from cfbatch_gui.core.inputs.input_values import ProblemKind, Source
from cfbatch_gui.core.inputs.layouts import describe
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import StoredProblem, problems
from cfbatch_gui.core.jobs.drafts import as_recognised, check_encodings
from cfbatch_gui.core.jobs.plan.packing import Plan
from cfbatch_gui.core.jobs.plan.preflight import calibrated, examine
from cfbatch_gui.core.jobs.plan.requests import too_long_texts
from cfbatch_gui.core.jobs.plan.spending import Spent
from cfbatch_gui.core.jobs.reuse import EarlierResults
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.core.versions import Change, Differences, check_comparable, compare_versions, find_predecessor
from cfbatch_gui.core.workers_ai.catalogue import find_model
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.words import plans
from cfbatch_gui.words.figures import told, usage_error
from cfbatch_gui.words.inputs import how_read
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.versions import version_words


def add_arguments(parser: Parser) -> None:
    reading.add_input_arguments(parser)
    parser.add_options("""
        --model M  the model's name, for example @cf/baai/bge-m3
        --connection C  where it would be sent, which is where earlier results count from (default: as set in the
            window)
    """)
    working.add_reuse_arguments(parser)
    parser.add_options("""
        --compared-with JOB  say what is new, changed and gone since this earlier job (default: the one that it is a
            version of)
        --budget DOLLARS  end with exit status 5 if it may cost more than this
        --json  print one JSON object; what must be known first is one too
    """)


async def run(call: Call) -> int:
    try:
        reading.settle_kind(call)
        with TemporaryDirectory(prefix="cfbatch-", ignore_cleanup_errors=True) as kept:
            async with reading.standard_input_as_file(call.file) as call.file:
                checked = await in_thread(_examine, call, JobFolder(Path(kept) / "job"))
            call.answer(_facts(checked) if call.json else None, _lines(call, checked))
    except UserError as error:
        if call.json:
            call.console.print_json(_open_question(error, call))
        raise
    preflight = checked.preflight
    if call.budget is not None:
        working.check_price(preflight.price_high, call.budget, Budget(), Spent())
    status = ExitStatus.BAD_INPUT if preflight.blocker else ExitStatus.DONE
    return reading.status_with_doubtful(call, status, preflight.problems)


@dataclass(frozen=True, slots=True)
class _Checked:
    """`cut` has the texts of which the model reads only the beginning, `earlier` the job of which this is a version."""

    inputs: reading.Inputs
    rows: int
    job: Job
    folder: JobFolder
    preflight: Plan
    cut: tuple[StoredProblem, ...]
    earlier: Job | None
    differences: Differences | None


def _examine(call: Call, folder: JobFolder) -> _Checked:
    settings, book = call.settings, working.read_address_book(call)
    model = call.model or settings.model
    connection = book.find(call.connection) if call.connection else settings.connection or PRACTICE.id
    known_model = find_model(model)
    inputs = reading.open_inputs(call, call.file, call.second)
    say_count = partial(reading.say_count, call.console)
    filled = fill(folder, inputs.source, inputs.mapping, inputs.second, on_count=say_count)
    check_encodings(folder, [(each.path.name, as_recognised(each)) for each in inputs.sources])
    options = JobOptions(reuse=call.reuse is not False)
    job = Job("check", call.file.stem, call.kind, model, connection, time.time(), options)

    def folder_of(job_id: str) -> JobFolder:
        return folder if job_id == job.id else JobFolder(call.paths.job(job_id))

    with closing(read_ledger(call)) as ledger:
        reusable = EarlierResults(ledger.jobs, folder_of, lambda each: service_mark_at(book, each.connection)).find(job)
        asked_for = call.compared_with
        earlier = ledger.find(asked_for) if asked_for else find_predecessor(job, ledger.jobs(), folder_of)
        counted = (each for each in ledger.jobs() if book.is_counted_by_cloudflare(each.connection))
        past = [(each, folder_of(each.id)) for each in counted]
    if earlier is not None and earlier.kind is not job.kind:
        raise usage_error("name_is_another_kind_job_cannot", name=earlier.name)
    if earlier is not None:
        check_comparable(folder, folder_of(earlier.id))
    preflight = calibrated(examine(folder, job, reusable=reusable), job, folder, known_model, past)
    cut = tuple(too_long_texts(folder, known_model)) if preflight.too_long else ()
    differences = compare_versions(folder, folder_of(earlier.id)) if earlier is not None else None
    return _Checked(inputs, filled.rows, job, folder, preflight, cut, earlier, differences)


def _lines(call: Call, checked: _Checked) -> Iterator[str]:
    inputs, preflight, cut = checked.inputs, checked.preflight, checked.cut
    for source in inputs.sources:
        yield f"{source.path.name}: {how_read(source)}"
        if source is inputs.source and not source.is_header_sure:
            if_data = tr("If it is data, say so by --header no.")
            yield "  " + (if_data if source.has_header else tr("If it is a header, say so by --header yes."))
        yield from (f"  {said(notice)}" for notice in source.notices)
    yield said(describe(inputs.mapping, preflight.queries, preflight.texts))
    yield from map(said, preflight.notices)
    if checked.earlier is not None and checked.differences is not None:
        yield version_words(checked.earlier.name, checked.differences)
    yield from working.lines_of_reuse(preflight, checked.job.kind, checked.job.connection)
    yield from labelled(plans.facts(preflight, checked.job, checked.rows, Spent(), time.time()), 9)
    if inputs.source.candidates is not None:
        yield told("no_file_says_texts_are_candidates", rule=reading.words_of_rule(inputs.source.candidates))
    for problem in preflight.problems:
        yield from reading.lines_of_problem(call, checked.folder, problem)
    if cut:
        yield plans.too_long_words(preflight, is_cut=checked.job.options.truncate_inputs)
        shown = cut[: reading.SHOWN]
        yield from reading.lines_of_rows(checked.folder, shown, call.console.width, total=len(cut))
    if preflight.blocker:
        yield said(preflight.blocker)


def _facts(checked: _Checked) -> dict[str, object]:
    inputs, preflight, mapping = checked.inputs, checked.preflight, checked.inputs.mapping
    return {
        "files": [_file(source) for source in inputs.sources],
        **fields_of(mapping, "kind", "layout", "template", "split"),
        "roles": dict(zip(inputs.source.columns, mapping.roles, strict=True)),
        "second_roles": dict(zip(inputs.second.columns, mapping.second_roles, strict=True)) if inputs.second else {},
        "model": checked.job.model,
        "rows": checked.rows,
        **fields_of(preflight, "queries", "texts", "requests", "notices", "blocker"),
        "repeated_texts": preflight.repeated,
        "reuse": working.json_of_reuse(preflight),
        "version": _json_of_version(checked),
        "batches": [fields_of(each, "requests", "texts", "bytes") for each in preflight.batches],
        "tokens": {"low": preflight.tokens_low, "high": preflight.tokens_high, "learned_from": preflight.learned_from},
        "price": {"low": preflight.price_low, "high": preflight.price_high},
        "problems": problems(checked.folder),
        "doubtful_sent": problems(checked.folder, kind=ProblemKind.DOUBTFUL_SENT),
        "too_long": checked.cut,
        "candidates": reading.words_of_rule(rule) if (rule := inputs.source.candidates) is not None else None,
    }


def _file(source: Source) -> dict[str, object]:
    names = ("format", "encoding", "separator", "sheet", "has_header", "is_header_sure", "columns", "notices")
    return {"name": source.path.name, **fields_of(source, *names), "encoding_is_guessed": source.is_encoding_guessed}


def _open_question(error: UserError, call: Call) -> dict[str, object]:
    """Its sentence, and the arguments that answer it, the likeliest first."""
    answers: list[Sequence[str]] = []
    if isinstance(error, EncodingUnknown):
        answers = [("--encoding", codec) for codec in (error.guess, *error.others)]
    elif call.kind is None and not call.recipe:
        answers = [("--rank",), ("--embed",)]
    columns = error.inputs.source.columns if isinstance(error, reading.ColumnsUnsettled) else None
    return {"sentence": error.message, "answers": answers, "columns": columns}


def _json_of_version(checked: _Checked) -> dict[str, object] | None:
    if checked.earlier is None or (found := checked.differences) is None:
        return None
    counts = {change.value: len(found.items(change)) for change in Change}
    return {"job": checked.earlier.id, "name": checked.earlier.name, "by_id": found.are_by_id, **counts}
