"""What the commands that run jobs share, and `--collect-in-account` and `--leave`."""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.exit_status import ExitStatus, status_of_error
from cfbatch_gui.cli.language import number, plural, tr
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.cli.report import facts_of_job, lines_of_result
from cfbatch_gui.core.connections.address_book import ACCOUNT_VARIABLE, AddressBook
from cfbatch_gui.core.connections.credentials import (
    CLOUDFLARE,
    TOKEN_VARIABLE,
    Credentials,
    TokenSource,
    variable_of,
)
from cfbatch_gui.core.errors import NotConnected, UsageError, UserError
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import (
    BatchState,
    Job,
    JobState,
    account_progress,
    check_is_worker,
    goes_on_elsewhere,
    most_batches,
    wants_account,
)
from cfbatch_gui.core.jobs.store.data_folder import HELD_BACK
from cfbatch_gui.core.jobs.verifying import complete_results
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.exports import Exported, export, target_for
from cfbatch_gui.core.system.files import write_own_file
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.core.workers_ai.api_tokens import check_secret
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE

_GLANCE = 0.2  # seconds between two looks at whether jobs may be left
PATIENCE = 5  # a command ends after so many failures in a row to reach the service
WITH_RESULTS = (JobState.DONE, JobState.PARTLY_DONE)


@asynccontextmanager
async def opened(paths: Paths, console: Console) -> AsyncIterator[tuple[Program, Progress]]:
    progress = Progress(console)
    program = await Program.open(paths.root, environ=os.environ, on_change=progress.show_job, patience=PATIENCE)
    try:
        lost = await program.check_books() if program.ledger.was_left_open else ()
        for sentence in (*program.damage, *lost):
            console.say(said(sentence))
        if program.doubt is not None:
            console.say(
                tr("{sentence} Say so with “cfbatch resume --folder-was moved”, or “copied”."), sentence=said(HELD_BACK)
            )
        yield program, progress
    finally:
        await program.close()


def stopped_sentence(job: Job | None, *, others: bool = False) -> str:
    """`job` is None before one was made; of all jobs when there are `others`."""
    if job is None or not job.is_sent:
        return "\n" + tr("Stopped. Nothing was sent.")
    if not goes_on_elsewhere(job):
        goes_on = tr("Stopped. The job waits on this computer. “{command}” picks it up.")
    elif any(batch.state is BatchState.PLANNED for batch in job.batches):
        goes_on = tr(
            "Stopped. What was sent goes on at the service; what was not sent yet waits here. “{command}” picks it up."
        )
    elif account_progress(job).lid_may_close and not others:
        goes_on = tr(
            "Stopped. Your account goes on collecting the answers, and you may turn this computer off. “{command}”"
            " fetches them."
        )
    else:
        goes_on = tr("Stopped. The work goes on at the service. “{command}” picks it up.")
    return "\n" + goes_on.format(command="cfbatch resume" if others else f"cfbatch resume {job.id}")


async def wait_for(
    program: Program, jobs: Sequence[Job], progress: Progress, *, may_leave: Callable[[Job], object] | None = None
) -> tuple[Job, ...]:
    """Until each job is final, needs the user, or may be left."""
    progress.follow(*jobs, is_leaving=may_leave is not None)
    waiting = {job.id: asyncio.ensure_future(program.runner.wait(job.id)) for job in jobs}
    try:
        while going_on := {
            task
            for job_id, task in waiting.items()
            if not task.done() and not (may_leave and may_leave(program.ledger.job(job_id)))
        }:
            await asyncio.wait(going_on, timeout=_GLANCE if may_leave else None, return_when=asyncio.FIRST_COMPLETED)
        return tuple([program.ledger.job(job.id) for job in jobs])
    finally:
        for task in waiting.values():
            task.cancel()
        progress.end()


def read_address_book(paths: Paths) -> tuple[Settings, AddressBook]:
    settings = Settings.load(paths.settings)
    book = AddressBook(
        lambda: settings.connections,
        paths,
        Credentials(environ=os.environ),
        environ=os.environ,
        practice_times=(0.0, 0.0),
        clock=time.time,
    )
    return settings, book


async def say_where(program: Program, name: str, secret_id: str, console: Console) -> None:
    """On a system without a keyring: which environment variable to set."""
    stored_in = await program.credentials.token_source(secret_id, check=check_secret)
    if stored_in is TokenSource.SESSION:
        console.say(
            tr(
                "There is no keyring on this computer, so the secret is gone when this command ends. Set the"
                " environment variable {variable} to it before you use “{name}”."
            ),
            variable=variable_of(secret_id),
            name=name,
        )


async def usable_connection(program: Program, asked_for: str | None, console: Console) -> str:
    """Raises NotConnected, before any file is read, when it cannot be used."""
    wanted = program.address_book.find(asked_for) if asked_for else program.settings.connection or PRACTICE.id
    facts = next((facts for facts in await program.connections.summaries() if facts.id == wanted), None)
    if facts is None:
        raise NotConnected(message("There is no connection “{name}”.", name=wanted))
    if not facts.is_ready:
        raise NotConnected(message("{sentence} {way_out}", sentence=facts.sentence, way_out=_way_to_connect(wanted)))
    words = tr("Connection: {title}. {sentence}").format(title=said(facts.title), sentence=said(facts.sentence))
    console.say(words.rstrip())
    return wanted


def _way_to_connect(connection_id: str) -> Message:
    if connection_id != CLOUDFLARE:
        return message("Set {name} to its secret, or enter it in the window.", name=variable_of(connection_id))
    return message(
        "Set {account} and {token}, or connect the account with “cfbatch connections add cloudflare” or in the window.",
        account=ACCOUNT_VARIABLE,
        token=TOKEN_VARIABLE,
    )


def status_of_job(job: Job, trouble: UserError | None) -> ExitStatus:
    """`trouble` is the error that paused the job."""
    match job.state:
        case JobState.DONE:
            return ExitStatus.DONE
        case JobState.OUTCOME_UNKNOWN:
            return ExitStatus.OUTCOME_UNKNOWN
        case _:
            return status_of_error(trouble) if trouble else ExitStatus.FAILED


def conclude(
    program: Program, job: Job, console: Console, *, leaves: bool = False, written: list[Exported] | None = None
) -> ExitStatus:
    """The files that were asked for are added to `written`, one by one. Raises UserError when one cannot be written."""
    folder, left = program.folder(job.id), leaving_status(job) if leaves else None
    console.say(sentence(job) if left is None else _leaving_sentence(job, left))
    if left is not None or job.state not in WITH_RESULTS:
        say_owed(folder, console)
    elif paths := owed(folder):
        complete_results(folder, job)
        for index, path in enumerate(paths, start=1):
            file = export(folder, metadata_of(job, program.address_book.title(job.connection)), path)
            say_file(console, file)
            if written is not None:
                written.append(file)
            remember(folder, paths[index:])
        _outputs_file(folder).unlink(missing_ok=True)
    return status_of_job(job, program.runner.pause_error(job.id)) if left is None else left


def say_owed(folder: JobFolder, console: Console) -> None:
    if paths := owed(folder):
        console.say(tr("Not written yet: {paths}."), paths=", ".join(map(str, paths)))


def present(program: Program, job: Job, console: Console, *, leaves: bool = False, as_json: bool = False) -> ExitStatus:
    """The object is printed also when a file cannot be written: it lists those that were."""
    files: list[Exported] = []
    try:
        status = conclude(program, job, console, leaves=leaves, written=files)
        if job.state in WITH_RESULTS and not as_json:
            console.print_result(lines_of_result(job, program.folder(job.id), console.width))
        return status
    finally:
        if as_json:
            console.print_json(facts_of_job(job, program.folder(job.id), files))


def sentence(job: Job) -> str:
    """The sentence for the job's outcome, with the command to use next."""
    what = plural(job.texts, "{n} text", "{n} texts")
    if job.tokens:  # which synchronous answers may lack
        what = plural(job.tokens, "{texts}, {n} token", "{texts}, {n} tokens", texts=what)
    match job.state:
        case JobState.DONE if job.connection == PRACTICE.id:
            template = tr("Job {id} is done: {what} (practice service, on this computer).")
        case JobState.DONE:
            template = tr("Job {id} is done: {what}.")
        case JobState.PARTLY_DONE:
            template = tr("Job {id} is done in part. {error}")
        case JobState.FAILED:
            template = tr("Job {id} failed. {error}")
        case JobState.OUTCOME_UNKNOWN:
            template = tr("Outcome unknown for job {id}. {error} Decide with “cfbatch settle {id}”, or in the window.")
        case JobState.DRAFT:
            template = tr("Job {id} was never sent.")
        case _ if job.error:
            template = tr("Job {id} stopped. {error} The job is kept: “cfbatch resume {id}” goes on with it.")
        case _:
            template = tr("Job {id} stopped. The job is kept: “cfbatch resume {id}” goes on with it.")
    return template.format(id=job.id, error=said(job.error), what=what)


def say_file(console: Console, file: Exported) -> None:
    console.say(plural(file.rows, "Wrote {n} row to {path}", "Wrote {n} rows to {path}", path=file.path))
    if file.next_command:
        console.say(tr("Next:") + f"\n{file.next_command}")


def add_output_arguments(parser: Parser) -> None:
    parser.add_options(
        """
        --out PATH...  write the result to a file, in the format of its suffix
        --json  print one JSON object instead of the result
        """
    )


def check_outputs(
    paths: Sequence[Path],
    kind: Kind | None,
    inputs: Sequence[Path] = (),
    *,
    formats: Sequence[str] = (),
    platform: str = sys.platform,
) -> tuple[Path, ...]:
    """The paths made absolute, refused with UsageError before anything is sent if they could not be written later.

    `formats` are names, "" where the suffix says it; without a `kind` of results they are no exports.
    """
    checked: list[Path] = []
    names: set[str] = set()
    for path, form in zip(paths, formats or [""] * len(paths), strict=True):
        target = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link that must be kept
        is_folder = kind is not None and target_for(target, kind, form).is_folder
        name = str(target).casefold() if platform in ("win32", "darwin") else str(target)  # as the system's disks do
        if name in names:
            raise UsageError(message("“{path}” is given twice. Each file needs a name of its own.", path=path))
        if any(target.exists() and each.exists() and target.samefile(each) for each in inputs):
            raise UsageError(message("“{path}” is the file that is read. Choose another name.", path=path))
        if target.is_dir() and not is_folder:
            raise UsageError(message("“{path}” is a folder. Give the name of a file.", path=path))
        if not target.parent.is_dir():
            raise UsageError(
                message("There is no folder “{path}”. Make it first, or choose another name.", path=path.parent)
            )
        if not os.access(target.parent, os.W_OK):
            raise UsageError(
                message("You may not write in the folder “{path}”. Choose another name.", path=path.parent)
            )
        checked.append(target)
        names.add(name)
    return tuple(checked)


def remember(folder: JobFolder, paths: Sequence[Path]) -> None:
    if paths:
        write_own_file(_outputs_file(folder), msgspec.json.encode([str(path) for path in paths]))


def owed(folder: JobFolder) -> tuple[Path, ...]:
    try:
        return tuple(map(Path, msgspec.json.decode(_outputs_file(folder).read_bytes(), type=list[str])))
    except (FileNotFoundError, msgspec.MsgspecError):
        return ()


def _outputs_file(folder: JobFolder) -> Path:
    return folder.path / "outputs.json"


def add_collecting_arguments(parser: Parser) -> None:
    """`collect` is None where the connection decides."""
    parser.add_options(
        """
        --[no-]collect-in-account  have your account collect the answers, through a Worker of your own, or ask for them
            from this computer (default: as the connection is set up)
        --leave  end when your account collects all answers, with exit status {left}: the computer may be turned off,
            and “cfbatch resume” fetches them; with {not_left} when it does not collect them
        """,
        {"--[no-]collect-in-account": {"dest": "collect"}},
        left=f"{ExitStatus.LEFT:d}",
        not_left=f"{ExitStatus.NOT_LEFT:d}",
    )


def check_may_collect(program: Program, connection_id: str, arguments: argparse.Namespace) -> None:
    """Raise UsageError for a new job that cannot be collected, or left, as the arguments say."""
    connection = program.address_book.connection(connection_id)
    if arguments.collect or arguments.leave:
        check_is_worker(connection)
    if arguments.leave:
        is_collected = connection.collects if arguments.collect is None else arguments.collect
        _check_may_leave(at_once=arguments.at_once, is_collected=is_collected)


def check_may_leave(program: Program, jobs: Iterable[Job], *, collect: bool | None) -> None:
    """Raise UsageError when one of these jobs cannot be left."""
    for job in jobs:
        connection = program.address_book.connection(job.connection)
        going_on = [batch for batch in job.batches if not batch.state.is_final]
        is_collected = account_progress(job).is_used or wants_account(job, connection)
        try:
            check_is_worker(connection)
            _check_may_leave(
                at_once=bool(going_on) and all(batch.at_once for batch in going_on),
                is_collected=is_collected if collect is None else collect,
            )
        except UsageError as error:
            raise UsageError(message("Job {id}: {sentence}", id=job.id, sentence=error.message)) from error


def _check_may_leave(*, at_once: bool, is_collected: bool) -> None:
    if at_once:
        raise UsageError(
            message("Requests without the queue are answered here, so such a job cannot be left. Leave out --leave.")
        )
    if not is_collected:
        raise UsageError(
            message(
                "This job is not collected in your account, so it cannot be left. Say --collect-in-account as well, or "
                "have the connection collect all of its jobs: cfbatch connections change NAME --collects."
            )
        )


def say_limit(program: Program, job: Job, batches: int, console: Console) -> None:
    connection = program.address_book.connection(job.connection)
    most = most_batches(connection)
    if not wants_account(job, connection) or connection.has_paid_worker or batches <= most:
        return
    words = tr(
        "On the Workers Free plan your account collects {most} batches of a job. This computer asks for the other"
        " {others}, so it is needed until these are here."
    )
    console.say(words, most=number(most), others=number(batches - most))


def is_fetched(program: Program, job: Job) -> bool:
    """The job may be left, and all that the account has of it so far is here."""
    is_waiting = account_progress(job).in_account > 0
    return _may_be_left(job) and not is_waiting and program.runner.account.has_looked(job)


def _may_be_left(job: Job) -> bool:
    """A batch of unknown outcome waits for the user."""
    found = account_progress(job)
    unknown = sum(batch.state is BatchState.OUTCOME_UNKNOWN for batch in job.batches)
    return found.is_used and not found.direct and found.to_send == unknown


def leaving_status(job: Job) -> ExitStatus | None:
    """None for a job that is final, has stopped, or goes on here."""
    if job.paused_because or all(batch.state.is_final for batch in job.batches):
        return None
    if _may_be_left(job):
        is_unknown = any(batch.state is BatchState.OUTCOME_UNKNOWN for batch in job.batches)
        return ExitStatus.OUTCOME_UNKNOWN if is_unknown else ExitStatus.LEFT
    return ExitStatus.NOT_LEFT if job.account_problem else None


def _leaving_sentence(job: Job, status: ExitStatus) -> str:
    if status is ExitStatus.OUTCOME_UNKNOWN:
        return sentence(job)
    if status is ExitStatus.NOT_LEFT:
        return tr(
            "Job {id} was not left, as your account does not collect all of its answers: this computer is still needed."
            " “cfbatch resume {id}” goes on with it."
        ).format(id=job.id)
    found = account_progress(job)
    return plural(
        found.in_account + found.at_service,
        "Your account collects the answers of job {id}, to {n} batch. You may turn this computer off; “cfbatch resume"
        " {id}” fetches them.",
        "Your account collects the answers of job {id}, to {n} batches. You may turn this computer off; “cfbatch resume"
        " {id}” fetches them.",
        id=job.id,
    )
