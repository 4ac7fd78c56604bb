"""`cfbatch attach`: watch and collect a batch that was submitted elsewhere."""

import argparse
import asyncio
from pathlib import Path

from cfbatch_gui.cli import reading, working
from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.language import tr
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs.input_values import AttachedInput
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.paths import Paths

EXAMPLES = """
  cfbatch attach 768f15b7-4fd6-4498-906e-ad94ffc7f8d2 --connection cloudflare
  curl … | cfbatch attach - --input questions.csv --rank --out ranked.csv
"""


def add_arguments(parser: Parser) -> None:
    parser.epilog = tr("examples:") + EXAMPLES
    parser.add_options(
        """
        job REQUEST_ID|FILE|-  the id, or the service's whole answer in a file
        --model M  the model it was sent to, where the answer does not say
        --input FILE  what was sent; without it texts get names
        """,
        {"--input": {"nargs": "+", "default": []}},
    )
    reading.add_reading_arguments(parser)
    parser.add_options(
        """
        --connection C  through which it was sent (default: as set in the window)
        --name NAME  what to call the job
        """
    )
    working.add_output_arguments(parser)


async def run(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    if len(arguments.input) > 2:
        raise UsageError(message("Two files at most: one of queries and one of contexts."))
    if arguments.input:
        reading.settle_kind(arguments, paths)
    if arguments.out and arguments.kind is None:
        raise UsageError(message("Say what the result is: --rank for scores or --embed for vectors."))
    outputs = working.check_outputs(arguments.out, arguments.kind, arguments.input) if arguments.out else ()
    async with reading.standard_input_as_file(Path(arguments.job)) as path:
        pasted = await asyncio.to_thread(_read, path, arguments.job)
    async with working.opened(paths, console) as (program, progress):
        job: Job | None = None
        try:
            connection = await working.usable_connection(program, arguments.connection, console)
            found = (
                await asyncio.to_thread(reading.open_inputs, arguments, *arguments.input) if arguments.input else None
            )
            for sentence in found.guesses() if found else ():
                console.say(sentence)
            inputs = AttachedInput(found.source, found.mapping, found.second) if found else None
            job = await program.elsewhere.attach(
                connection,
                pasted,
                usual_model=arguments.model or program.settings.model,
                name=(arguments.name or "").strip(),
                inputs=inputs,
            )
            working.remember(program.folder(job.id), outputs)
            sentence = tr("Job {id}: request ID {request_id}, model {model}.")
            console.say(sentence, id=job.id, request_id=job.batches[0].request_id, model=job.model)
            (job,) = await working.wait_for(program, [job], progress)
        except asyncio.CancelledError:
            console.say(working.stopped_sentence(job and program.ledger.job(job.id)))
            raise
        return working.present(program, job, console, as_json=arguments.json)


def _read(path: Path, words: str) -> str:
    """The text of the file, in UTF-8 whatever the system's own encoding is; the words where they name none."""
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        sentence = message("“{name}” could not be read as text.", name=path.name)
        raise InputError(sentence, detail=type(error).__name__) from error
    except OSError:
        return words
