"""`cfbatch attach`: watch and collect a batch that was submitted elsewhere."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from cfbatch_gui.cli import reading, working
from cfbatch_gui.cli.console import Call
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.working import Work
from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.words.figures import usage_error
from cfbatch_gui.words.languages import tr

EXAMPLES = """
  cfbatch attach 768f15b7-4fd6-4498-906e-ad94ffc7f8d2 --connection cloudflare
  curl … | cfbatch attach - --input questions.csv --rank --out ranked.csv
"""


def add_arguments(parser: Parser) -> None:
    parser.epilog = tr("examples:") + EXAMPLES
    parser.add_options("""
        job REQUEST_ID|FILE|-  the id, or the service's whole answer in a file
        --model M  the model it was sent to, where the answer does not say
    """)
    reading.add_sent_arguments(parser)
    parser.add_options("""
        --connection C  through which it was sent (default: as set in the window)
        --name NAME  what to call the job
    """)
    working.add_output_arguments(parser)


async def run(call: Call) -> int:
    if call.input:
        reading.settle_kind(call)
    if (call.out or call.to) and call.kind is None:
        raise usage_error("say_what_result_is_rank_scores")
    outputs = working.asked_outputs(call, call.kind, call.input)
    async with reading.standard_input_as_file(Path(call.job)) as path:
        pasted = await asyncio.to_thread(_read, path, call.job)
    async with working.opened(call) as work:
        return await working.see_through(work, _attached(work, pasted, outputs))


async def _attached(work: Work, pasted: str, outputs: Sequence[working.Output]) -> Job:
    connection = await working.usable_connection(work, work.connection)
    inputs = await asyncio.to_thread(reading.open_sent, work)
    work.console.say(*(inputs.guesses() if inputs else ()))
    model, name = work.model or work.program.settings.model, (work.name or "").strip()
    job = await work.program.elsewhere.attach(connection, pasted, usual_model=model, name=name, inputs=inputs)
    working.remember(work.program.folder(job.id), outputs)
    work.console.tell(
        "job_id_request_id_request_id_model", id=job.id, request_id=job.batches[0].request_id, model=job.model
    )
    return job


def _read(path: Path, words: str) -> str:
    """The text of the file, in UTF-8 whatever the system's own encoding is; the words where they name none."""
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        sentence = message("name_could_not_be_read_text", name=path.name)
        raise InputError(sentence, detail=type(error).__name__) from error
    except OSError:
        return words
