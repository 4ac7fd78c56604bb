"""`cfbatch search`: find texts of a job by meaning; each new question is sent once, and kept with the job."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from cfbatch_gui.cli import working
from cfbatch_gui.cli.console import Call, elided, fields_of, table
from cfbatch_gui.cli.jobs import found_jobs
from cfbatch_gui.cli.parser import Parser, number_in
from cfbatch_gui.cli.working import Work
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports import ExportOptions, base, export, target_for
from cfbatch_gui.core.results.exports.search_rows import BEST, SearchRows
from cfbatch_gui.core.results.nearest import ask, asked
from cfbatch_gui.words.figures import prices, score_text, usage_error
from cfbatch_gui.words.languages import said, tr

_NO_TOP = message("text_should_be_from_1_to_most")
_MOST = 1_000
EXAMPLES = """
  cfbatch search abstracts "how do bees find their way home"
  cfbatch search abstracts --queries questions.txt --top 10 --out found.xlsx
"""


def add_arguments(parser: Parser) -> None:
    parser.epilog = tr("examples:") + EXAMPLES
    parser.add_options(
        """
        job JOB  a job's id, the beginning of it, or its name
        texts [TEXT...]  what to look for, in any language; one that was asked before costs nothing
        --queries FILE  look for each line of a file, or for the first column of a table
        --top K  so many of the best texts for each (default: {best})
        """,
        {"--top": {"type": number_in(1, _MOST, _NO_TOP, whole=True, most=_MOST), "default": BEST}},
        best=BEST,
    )
    working.add_budget_argument(parser)
    working.add_output_arguments(parser)


async def run(call: Call) -> None:
    (job,) = found_jobs(call, call.job)
    if job.kind is not Kind.EMBED:
        raise usage_error("only_jobs_of_texts_are_searched")
    if not job.has_results:
        raise usage_error("job_id_no_results_yet_cfbatch", id=job.id)
    inputs = list(filter(None, [call.queries]))
    outputs = working.asked_outputs(call, job.kind, inputs, Purpose.SEARCH)
    listed = await asyncio.to_thread(_lines_of, call.queries) if call.queries else []
    questions = tuple(dict.fromkeys(filter(None, map(str.strip, (*call.texts, *listed)))))
    if not questions:
        raise usage_error("there_is_nothing_look_yet_type")
    async with working.opened(call) as work:
        folder = work.program.folder(job.id)
        known = await asyncio.to_thread(asked, folder, is_question=True)
        new = [each for each in questions if each not in known]
        if new:
            await _ask(work, job, new)
        options = ExportOptions(top_k=call.top, questions=questions)
        files = []
        for path, name in outputs:
            target = target_for(path, job.kind, name, Purpose.SEARCH)
            title = work.program.address_book.title(job.connection)
            files.append(
                await asyncio.to_thread(export, folder, job, path, target, options=options, connection=title, say=said)
            )
            working.say_file(call.console, files[-1])
        rows = SearchRows(base.Work(folder, job, Path(), options))
        found = [row for block in await asyncio.to_thread(list, rows.blocks()) for row in block]
        written = [fields_of(file, "path", "format", "rows") for file in files]
        facts = [dict(zip(rows.columns, row, strict=True)) for row in found]
        lines = () if files else _table(found, call.console.width)
        call.answer({"job": job.id, "sent": len(new), "found": facts, "files": written}, lines)


def _lines_of(path: Path) -> list[str]:
    return [row.cells[0] for row in read_rows(open_source(path)) if row.cells]


async def _ask(work: Work, job: Job, new: Sequence[str]) -> None:
    """Raises OverBudget before anything is sent."""
    program = work.program
    await working.usable_connection(work, job.connection)
    price = await asyncio.to_thread(program.vectorize.search_price, job.id, *new)
    if program.address_book.is_counted_by_cloudflare(job.connection):
        spent = await asyncio.to_thread(program.spent_today)
        working.check_price(price, work.budget, program.settings.budget, spent)
        work.console.tell("new_questions_cost", n=len(new), price=prices(price))
    folder = program.folder(job.id)
    embeddings = await asyncio.to_thread(Embeddings, folder, job.failed_batches)
    await ask(program.address_book.client(job.connection), job, embeddings, new, now=time.time())


def _table(found: Sequence[base.Row], width: int) -> Iterator[str]:
    """A table for all: the question stands beside the first text of each."""
    rows = []
    for query, rank, score, row, text_id, text, *_ in found:
        first = elided(str(query), max(16, width // 4)) if rank == 1 else ""
        rows.append((first, str(rank), score_text(float(score or 0)), str(row), str(text_id), str(text)))
    yield from table((tr("QUESTION"), tr("RANK"), tr("SCORE"), tr("ROW"), tr("ID"), tr("TEXT")), rows, width)
