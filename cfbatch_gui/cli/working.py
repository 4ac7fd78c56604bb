"""What the commands that run jobs share: waiting and leaving, files that are owed, what a job costs."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import msgspec

from cfbatch_gui.cli.console import Call, Console, ExitStatus, elided, fields_of, status_of_error
from cfbatch_gui.cli.group_lines import facts_of_groups, lines_of_job_groups
from cfbatch_gui.cli.jobs import summary_of
from cfbatch_gui.cli.match_lines import facts_of_matches, lines_of_matches
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.core.connections.address_book import ACCOUNT_VARIABLE, AddressBook
from cfbatch_gui.core.connections.credentials import CLOUDFLARE, TOKEN_VARIABLE, Credentials, TokenSource, variable_of
from cfbatch_gui.core.errors import NotConnected, OverBudget, UsageError, UserError
from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import count_sent_rows, problems, row_problems
from cfbatch_gui.core.jobs import states
from cfbatch_gui.core.jobs.plan.packing import Plan, ProblemCount
from cfbatch_gui.core.jobs.plan.preflight import reuse_sentence
from cfbatch_gui.core.jobs.plan.spending import Spent, over_budget
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState, Purpose, account_progress, wants_account
from cfbatch_gui.core.jobs.store.data_folder import HELD_BACK
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.categories import read_by_purpose, summaries
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports import TARGETS, Exported, ExportOptions, export, target_for
from cfbatch_gui.core.results.job_groups import read_groups
from cfbatch_gui.core.results.matches import Matches
from cfbatch_gui.core.results.outcomes import origins
from cfbatch_gui.core.results.rankings import RankedContext, Rankings, rank_text
from cfbatch_gui.core.results.score_table import score_figures
from cfbatch_gui.core.system.files import write_own_file
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.core.workers_ai.api_tokens import check_secret
from cfbatch_gui.core.workers_ai.catalogue import Price
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.words import plans
from cfbatch_gui.words.figures import local_signs, plural, prices, score_text, told, usage_error, worded
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.results import checks_line, scores_line
from cfbatch_gui.words.states import is_practice

_GLANCE = 0.2  # seconds between two looks at whether jobs may be left
PATIENCE = 5  # a command ends after so many failures in a row to reach the service
WITH_RESULTS = (JobState.DONE, JobState.PARTLY_DONE)


class Work(Call):
    """A call with the program open. `made` is the job that it makes, once there is one; `problems` are its rows'."""

    program: Program
    progress: Progress
    made: Job | None = None
    problems: Sequence[ProblemCount] = ()
    leave: bool = False


@asynccontextmanager
async def opened(call: Call) -> AsyncIterator[Work]:
    progress = Progress(call.console)
    program = await Program.open(call.paths.root, environ=os.environ, on_change=progress.show_job, patience=PATIENCE)
    try:
        call.console.say(*program.damage)
        if program.store.holds_back:
            call.console.tell("sentence_say_cfbatch_resume_folder_was", sentence=said(HELD_BACK))
        yield Work(**vars(call), program=program, progress=progress)
    finally:
        await program.close()


def stopped_sentence(job: Job | None, *, others: bool = False) -> str:
    """`job` is None before one was made; of all jobs when there are `others`."""
    if job is None or not job.is_sent:
        return "\n" + told("stopped_nothing_sent")
    code = "stopped_goes_on_at_service"
    if not states.goes_on_elsewhere(job):
        code = "stopped_job_waits_here"
    elif account_progress(job).lid_may_close and not others:
        code = "stopped_account_goes_on"
    return "\n" + told(code, command="cfbatch resume" if others else f"cfbatch resume {job.id}")


async def see_through(work: Work, making: Coroutine[Any, Any, Job]) -> ExitStatus:
    """Make a job, wait for it and present it; one that is interrupted says what becomes of the job."""
    try:
        work.made = await making
        (job,) = await wait_for(work, work.made, may_leave=leaving_status if work.leave else None)
    except asyncio.CancelledError:
        work.console.say(stopped_sentence(work.made and work.program.ledger.job(work.made.id)))
        raise
    return present(work, job)


async def wait_for(work: Work, *jobs: Job, may_leave: Callable[[Job], object] | None = None) -> tuple[Job, ...]:
    """Until each job is final, needs the user, or may be left."""
    program = work.program
    work.progress.follow(*jobs, is_leaving=may_leave is not None)
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
        work.progress.end()


def read_address_book(call: Call) -> AddressBook:
    credentials, clock = Credentials(environ=os.environ), time.time
    saved = call.settings.connections
    return AddressBook(lambda: saved, call.paths, credentials, environ=os.environ, practice_times=(0, 0), clock=clock)


async def say_where(work: Work, name: str, secret_id: str) -> None:
    """On a system without a keyring: which environment variable to set."""
    if await work.program.credentials.token_source(secret_id, check=check_secret) is TokenSource.SESSION:
        work.console.tell("there_is_no_keyring_on", variable=variable_of(secret_id), name=name)


async def usable_connection(work: Work, asked_for: str | None) -> str:
    """Raises NotConnected, before any file is read, when it cannot be used."""
    program = work.program
    wanted = program.address_book.find(asked_for) if asked_for else program.settings.connection or PRACTICE.id
    facts = next((facts for facts in await program.address_book.summaries() if facts.id == wanted), None)
    if facts is None:
        raise NotConnected(message("there_is_no_connection_name", name=wanted))
    if not facts.is_ready:
        raise NotConnected(message("sentence_way_out", sentence=facts.sentence, way_out=_way_to_connect(wanted)))
    shown = worded("Connection: {title}. {sentence}", title=said(facts.title), sentence=said(facts.sentence))
    work.console.say(shown.rstrip())
    return wanted


def _way_to_connect(connection_id: str) -> Message:
    if connection_id != CLOUDFLARE:
        return message("set_name_secret_or_enter_window", name=variable_of(connection_id))
    return message("set_account_token_or_connect_account", account=ACCOUNT_VARIABLE, token=TOKEN_VARIABLE)


def status_of_job(job: Job, trouble: UserError | None) -> ExitStatus:
    """`trouble` is the error that paused the job."""
    known = {JobState.DONE: ExitStatus.DONE, JobState.OUTCOME_UNKNOWN: ExitStatus.OUTCOME_UNKNOWN}
    return known.get(job.state, status_of_error(trouble) if trouble else ExitStatus.FAILED)


def find_matches(work: Work, job: Job) -> Matches | None:
    """None where a job has none, or none yet. Blocking. Raises DataError, UsageError."""
    if not job.purpose.takes_lists or job.state not in WITH_RESULTS:
        return None
    show = partial(work.progress.show, tr("comparing"), also_elsewhere=False)
    try:
        return read_by_purpose(work.program.folder(job.id), job, work.program.decisions_of(job).find, progress=show)
    finally:
        work.progress.end()


def conclude(
    work: Work,
    job: Job,
    written: list[Exported] | None = None,
    matches: Callable[[], Matches | None] | None = None,
) -> ExitStatus:
    """The files that were asked for are added to `written`, one by one. Raises UserError when one cannot be written."""
    program, console = work.program, work.console
    folder, left = program.folder(job.id), leaving_status(job) if work.leave else None
    console.say(sentence(job) if left is None else _leaving_sentence(job, left))
    outputs = owed(folder)
    if outputs and (left is not None or job.state not in WITH_RESULTS):
        console.tell("not_written_yet_paths", paths=", ".join(str(path) for path, _ in outputs))
    elif outputs:
        options = ExportOptions(top_k=job.options.matching.best if job.purpose.takes_lists else None)
        title = program.address_book.title(job.connection)
        known = matches() if matches is not None else find_matches(work, job)
        for index, (path, form) in enumerate(outputs, start=1):
            target = target_for(path, job.kind, form, job.purpose)
            file = export(folder, job, path, target, options=options, connection=title, say=said, matches=known)
            say_file(console, file)
            if written is not None:
                written.append(file)
            remember(folder, outputs[index:])
        _outputs_file(folder).unlink(missing_ok=True)
    return status_of_job(job, program.runner.pause_error(job.id)) if left is None else left


def present(work: Work, job: Job) -> ExitStatus:
    """Print the result where no file was asked for it. With `--json` an object also when a file cannot be written: it
    lists those that were.
    """
    files: list[Exported] = []
    folder, found = work.program.folder(job.id), cache(partial(find_matches, work, job))
    try:
        status = conclude(work, job, files, found)
        matches = found()
        if job.state in WITH_RESULTS and not work.json and not files:
            lines = lines_of_result if matches is None else partial(lines_of_matches, matches)
            work.console.print_result(lines(job, folder, work.console.width))
        if matches is not None:
            work.console.say(*map(said, summaries(matches, job)))
        return status
    finally:
        if work.json:
            matches = found()
            more = facts_of_matches(matches, job, folder) if matches is not None else {}
            if job.purpose is Purpose.GROUPS and job.state in WITH_RESULTS:
                more["groups"] = facts_of_groups(read_groups(folder, job), folder)
            work.console.print_json(facts_of_job(job, folder, files, more=more))


_RANK, _SCORE = 6, 9  # columns


def facts_of_job(
    job: Job, folder: JobFolder, files: Sequence[Exported] = (), *, more: Mapping[str, object] | None = None
) -> dict[str, object]:
    has_data = folder.data.exists()
    has_vectors = has_data and job.kind is Kind.EMBED
    return {
        **summary_of(job),
        "rows_in": job.rows_in,
        "rows_sent": count_sent_rows(folder) if has_data else 0,
        "problems": list(row_problems(folder)) if has_data else [],
        "doubtful_sent": problems(folder, kind=ProblemKind.DOUBTFUL_SENT) if has_data else [],
        "usage": {"total_tokens": job.tokens},
        "taken_from_earlier_jobs": origins(folder) if has_data else (),
        "scores": score_figures(folder) if has_data and job.kind is Kind.RANK else None,
        "vectors": Embeddings(folder).checks() if has_vectors else None,
        **(more or {}),
        "files": [fields_of(file, "path", "format", "rows") for file in files],
    }


def lines_of_result(job: Job, folder: JobFolder, width: int) -> Iterator[str]:
    if job.kind is Kind.RANK:
        yield from _ranked(job, folder, width)
    elif job.purpose is Purpose.GROUPS:
        yield from lines_of_job_groups(read_groups(folder, job), job, folder, width)
    else:
        yield checks_line(Embeddings(folder).checks(), job)[0]


def _ranked(job: Job, folder: JobFolder, width: int) -> Iterator[str]:
    if is_practice(job):
        yield scores_line(job)
        yield ""
    contexts = chain.from_iterable(Rankings(folder).blocks())
    for index, (_, of_query) in enumerate(groupby(contexts, key=attrgetter("query_no"))):
        ranked = iter(of_query)
        first = next(ranked)
        if index:
            yield ""
        yield elided(f"{first.query_id}  {first.query}" if first.query_id else first.query, width)
        yield from (_context_line(context, width) for context in chain((first,), ranked))


def _context_line(context: RankedContext, width: int) -> str:
    points = "" if context.score is None else score_text(context.score)
    text = context.text if context.score is not None else f"({said(context.error or context.status)}) {context.text}"
    rank = local_signs(rank_text(context)) or "–"
    # A space after "2" aligns its digit with that of "2=".
    rank_cell = f"{rank:>{_RANK}}" if rank.endswith("=") else f"{rank:>{_RANK - 1}} "
    return f"{rank_cell}{points:>{_SCORE}}  {elided(text, max(20, width - _RANK - _SCORE - 2))}"


_SENTENCES: Final = {
    JobState.DONE: message("job_id_is_done_what"),
    JobState.PARTLY_DONE: message("job_id_is_done_part_error"),
    JobState.FAILED: message("job_id_failed_error"),
    JobState.OUTCOME_UNKNOWN: message("outcome_unknown_job_id_error_decide"),
    JobState.DRAFT: message("job_id_was_never_sent"),
}
_STOPPED: Final = message("job_id_stopped_job_is_kept")
_STOPPED_BY: Final = message("job_id_stopped_error_job_is")


def sentence(job: Job) -> str:
    """The sentence for the job's outcome, with the command to use next."""
    what = plural(job.texts, "{n} text", "{n} texts")
    if job.tokens:  # which synchronous answers may lack
        what = plural(job.tokens, "{texts}, {n} token", "{texts}, {n} tokens", texts=what)
    words = tr(_SENTENCES.get(job.state, _STOPPED_BY if job.error else _STOPPED))
    return words.format(id=job.id, error=said(job.error), what=what)


def say_wrote(console: Console, rows: int, path: Path) -> None:
    console.tell("wrote_n_rows_path", n=rows, path=path)


def say_file(console: Console, file: Exported) -> None:
    say_wrote(console, file.rows, file.path)
    if file.next_command:
        console.say(tr("Next:") + f"\n{file.next_command}")


def add_output_arguments(parser: Parser) -> None:
    parser.add_options("--out PATH...  write the result to a file, in the format of its suffix")
    add_formats_argument(parser)
    parser.add_options("--json  print one JSON object instead of the result")


def add_formats_argument(parser: Parser) -> None:
    parser.add_options(
        "--to F PATH...  a format with the file or folder to write; may repeat. Formats: {names}",
        {"--to": {"nargs": 2, "type": str}},
        names=", ".join(dict.fromkeys(each.name for each in TARGETS)),
    )


Output = tuple[Path, str]  # a file, and the name of its format, "" where the suffix says it


def asked_outputs(
    call: Call, kind: Kind | None, inputs: Sequence[Path] = (), purpose: states.Purpose | None = None
) -> list[Output]:
    """What is to be written. Raises UsageError as `check_outputs`."""
    names = [vars(call).get("format") or ""] * len(call.out) + [name for name, _ in call.to]
    given = [*call.out, *(Path(path) for _, path in call.to)]
    return list(zip(check_outputs(given, kind, inputs, formats=names, purpose=purpose), names, strict=True))


def check_outputs(
    paths: Sequence[Path],
    kind: Kind | None,
    inputs: Sequence[Path] = (),
    *,
    formats: Sequence[str] = (),
    purpose: states.Purpose | None = None,
) -> tuple[Path, ...]:
    """The paths made absolute, refused with UsageError before anything is sent if they could not be written later.

    `formats` are names, "" where the suffix says it; without a `kind` of results they are no exports.
    """
    checked: list[Path] = []
    for path, form in zip(paths, formats or [""] * len(paths), strict=True):
        target = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link that must be kept
        is_folder = kind is not None and target_for(target, kind, form, purpose).is_folder
        if target in checked:
            raise usage_error("path_is_given_twice_each_file", path=path)
        if any(target.exists() and each.exists() and target.samefile(each) for each in inputs):
            raise usage_error("path_is_file_is_read_choose", path=path)
        if target.is_dir() and not is_folder:
            raise usage_error("path_is_folder_give_name_file", path=path)
        if not target.parent.is_dir():
            raise usage_error("there_is_no_folder_path_make", path=path.parent)
        if not os.access(target.parent, os.W_OK):
            raise usage_error("you_may_not_write_folder_path", path=path.parent)
        checked.append(target)
    return tuple(checked)


def remember(folder: JobFolder, outputs: Sequence[Output]) -> None:
    if outputs:
        write_own_file(_outputs_file(folder), msgspec.json.encode([(str(path), form) for path, form in outputs]))


def owed(folder: JobFolder) -> tuple[Output, ...]:
    try:
        found = msgspec.json.decode(_outputs_file(folder).read_bytes(), type=list[str | tuple[str, str]])
        pairs = ((each, "") if isinstance(each, str) else each for each in found)  # formerly without formats
        return tuple((Path(path), form) for path, form in pairs)
    except (FileNotFoundError, msgspec.MsgspecError):
        return ()


def _outputs_file(folder: JobFolder) -> Path:
    return folder.path / "outputs.json"


def add_collecting_arguments(parser: Parser) -> None:
    """`collect_in_account` is None where the connection decides."""
    parser.add_options("""
        --[no-]collect-in-account  have your account collect the answers, through a Worker of your own, or ask for them
            from this computer (default: as the connection is set up)
        --leave  end when your account collects all answers, with exit status 9: the computer may be turned off, and
            “cfbatch resume” fetches them; with 10 when it does not collect them
    """)


def check_may_leave(work: Work, *jobs: Job) -> None:
    """Raise UsageError when one of these jobs cannot be collected in the account, or left, as the arguments ask."""
    for job in jobs if work.collect_in_account or work.leave else ():
        connection = work.program.address_book.connection(job.connection)
        is_collected = account_progress(job).is_used or wants_account(job, connection)
        going_on = [batch.at_once for batch in job.batches if not batch.state.is_final]
        try:
            states.check_is_worker(connection)
            if work.leave and (all(going_on) if going_on else job.options.at_once and not job.is_sent):
                raise usage_error("requests_without_queue_are_answered_here")
            if work.leave and not (is_collected if work.collect_in_account is None else work.collect_in_account):
                raise usage_error("job_is_not_collected_your_account")
        except UsageError as error:
            if not job.is_sent:
                raise
            raise usage_error("job_id_sentence", id=job.id, sentence=error.message) from error


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
        return told("job_id_was_not_left_your", id=job.id)
    found = account_progress(job)
    return told("your_account_collects_answers_job_id", n=found.in_account + found.at_service, id=job.id)


def add_budget_argument(parser: Parser) -> None:
    parser.add_options("""
        --budget DOLLARS  send nothing if it may cost more; exit status 5 (default: the budget that is set in the
            window)
    """)


def check_price(most: Price, asked: float | None, usual: Budget, spent: Spent) -> None:
    """Raise OverBudget above `asked` dollars, or, without them, above the saved budget."""
    budget = usual if asked is None else budget_of(asked)
    if sentence := over_budget(most, budget, spent):
        raise OverBudget(_with_the_way_out(sentence))


async def send_again(work: Work, job_id: str, *numbers: int) -> Job:
    """Within `--budget`, or, without it, within the saved budget. Raises OverBudget."""
    try:
        budget = None if work.budget is None else budget_of(work.budget)
        return await work.program.send_again(job_id, *numbers, budget=budget)
    except OverBudget as error:
        raise OverBudget(_with_the_way_out(error.message)) from error


def budget_of(asked: float) -> Budget:
    """0.0 becomes a tiny amount, because 0.0 would mean no limit."""
    return Budget(a_job=max(asked, 1e-9))


def _with_the_way_out(sentence: str) -> Message:
    return message("sentence_nothing_was_sent_allow_more", sentence=sentence)


def price_words(preflight: Plan) -> str:
    """Such as "under $0.001, 3.2% of a day's free use"."""
    high, price = preflight.price_high, prices(preflight.price_low, preflight.price_high)
    if not high.is_listed:
        return price
    return worded("{price}, {share} of a day's free use", price=price, share=plans.share_words(high))


def add_reuse_arguments(parser: Parser) -> None:
    """None, which is neither, means reuse."""
    parser.add_options("""
        --[no-]reuse  take what earlier jobs have of it from there, and send only what is new (the default), or send
            everything
    """)


def lines_of_reuse(found: Plan, kind: Kind, connection: str) -> Iterator[str]:
    sentence = said(reuse_sentence(found, kind))
    if not sentence:
        return
    yield sentence
    if connection != PRACTICE.id and found.price_high.is_listed:
        price, whole = prices(found.price_low, found.price_high), prices(*found.prices_without)
        if price != whole:
            yield worded("Price: {price} instead of {whole}.", price=price, whole=whole)


def json_of_reuse(found: Plan) -> dict[str, object] | None:
    if not found.reused:
        return None
    low, high = found.prices_without
    return {
        "texts": found.reused,
        "sent_texts": found.sent_texts,
        "jobs": [{"job": each.job.id, "name": each.job.name, "texts": each.texts} for each in found.earlier.jobs],
        "tokens": {"low": found.reused_low, "high": found.reused_high},
        "price_without": {"low": low.dollars, "high": high.dollars},
    }
