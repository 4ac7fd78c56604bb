"""`cfbatch connections set-up` and `take-down`: the user's Worker, by a token that is used once."""

from collections.abc import Callable, Sequence
from typing import Final

from cfbatch_gui.cli.console import (
    Call,
    Console,
    ExitStatus,
    agreed,
    from_variable,
    one_line,
    read_secret,
    status_of_error,
)
from cfbatch_gui.cli.language import plural, tr, usage_error, worded
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.working import opened, read_address_book, say_where
from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.messages import enumerated, message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.worker_setup import account
from cfbatch_gui.core.worker_setup.worker_setup import COSTS, NotOurs, SecretWouldBeLost, Stopped, WorkerSetup
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form, check_secret, read_pasted
from cfbatch_gui.core.workers_ai.connection_kinds import clean_account_id

SET_UP_WORDS: Final = message("put a Worker that collects answers into your account, and add the connection to it")
TAKE_DOWN_WORDS: Final = message("take that Worker out of your account again, with all that goes with it")
_EPILOG: Final = message(
    """\
It lists every call that it makes with the permission it needs, and asks, or wants --yes. The token is asked for, or
comes on standard input or from a variable that --token-from names; never as an argument. It is stored nowhere: delete
it in the dashboard afterwards. Cut off at any point, the same command goes on."""
)
_TITLE: Final = "My Worker"
_STATES: Final = {
    account.State.WAITING: message("waiting:"),
    account.State.DONE: message("done."),
    account.State.NOT_NEEDED: message("not needed."),
    account.State.FAILED: message("failed."),
}


def add_set_up_arguments(parser: Parser) -> None:
    _add_common(parser)
    parser.add_options(
        """
        --name NAME  what to call the connection
        --paid-plan  the account is on the Workers Paid plan: batches up to 10 MB
        --replace  replace a Worker or a Workflow of this name that this program did not put there
        --secret-from VARIABLE  where a secret of your own for the Worker stands (default: one is made and kept in the
            keyring)
        --use  new jobs go there from now on
        """,
        {"--name": {"default": _TITLE}},
    )


def add_take_down_arguments(parser: Parser) -> None:
    parser.add_options("connection [NAME]  the name or id of the connection to it")
    _add_common(parser)
    parser.add_options(
        """
        --keep-answers  keep the bucket with what is stored in it; R2 goes on billing it
        --forget  forget the connection and its secret too; its jobs stay
        """
    )


def _add_common(parser: Parser) -> None:
    parser.epilog = said(_EPILOG)
    parser.add_options(
        """
        --account ID  the account's id, or a dashboard address with it
        --worker WORKER  what the Worker is called in the account
        --token-from VARIABLE  where the token stands
        --yes  agree to the calls without being asked
        --dry-run  print the calls, and make none
        --json  print one JSON object
        """
    )


async def set_up(call: Call) -> ExitStatus:
    console = call.console
    names = account.names_of(call.worker) if call.worker else account.names_of()
    account_id = _account_id(call)
    calls = account.setting_up_calls(names, account_id)
    if not _shown(calls, account_id, said(COSTS), call):
        return ExitStatus.DONE if call.dry_run else ExitStatus.FAILED
    own_secret = check_secret(from_variable(call.secret_from)) if call.secret_from else None
    token = _token(call)
    async with opened(call) as work:
        done = await _setup_of(work.program).set_up(
            *(account_id, token, names),
            title=call.name,
            paid_plan=call.paid_plan,
            may_replace=call.replace,
            own_secret=own_secret,
            must_keep_secret=True,
            show=_printing(calls, console),
        )
        connection = done.connection
        if call.use:
            await work.program.keep_settings(connection=connection.id)
        words = tr("Done: connection “{name}” was added.") if done.is_new else tr("Done: connection “{name}” is kept.")
        console.say(words, name=connection.name)
        if done.has_other_secret:
            console.say(tr("The Worker has a new secret: programs elsewhere that use it need it too."))
        words = tr("A new address may take a minute until it answers; then test it with “{command}”.")
        console.say(words, command=f"cfbatch connections test {connection.id}")
        console.say(tr("The token is not needed any more: delete it in the dashboard."))
        await say_where(work, connection.name, connection.id)
        call.answer({"id": connection.id, "name": connection.name, "url": connection.url, "added": done.is_new}, ())
    return ExitStatus.DONE


async def take_down(call: Call) -> ExitStatus:
    book, console = read_address_book(call), call.console
    found = book.find(call.connection) if call.connection else ""
    url = next((each.url for each in book.saved() if each.id == found), "")
    if call.forget and not found:
        raise usage_error("Name the connection that is to be forgotten.")
    if not call.worker and not found:
        raise usage_error("Name the connection to the Worker, or the Worker: --worker cf-batch-door.")
    names = account.names_of(call.worker) if call.worker else account.names_at(url)
    account_id = _account_id(call)
    calls = account.removing_calls(names, account_id, keep_bucket=call.keep_answers)
    stays = tr("The connection in this program stays.") if not call.forget else ""
    if not _shown(calls, account_id, stays, call):
        return ExitStatus.DONE if call.dry_run else ExitStatus.FAILED
    token = _token(call)
    async with opened(call) as work:
        taken = await _setup_of(work.program).take_down(
            *(account_id, token, names), keep_bucket=call.keep_answers, show=_printing(calls, console)
        )
        if call.forget:
            await work.program.connections.remove(found)
    console.say(tr("Done: “{name}” is not in the account any more."), name=names.worker)
    if taken.bucket:
        console.say(plural(taken.answers, "{n} stored object was deleted.", "{n} stored objects were deleted."))
    console.say(tr("The token is not needed any more: delete it in the dashboard."))
    gone = {"worker": taken.worker, "workflow": taken.workflow, "bucket": taken.bucket, "objects": taken.answers}
    call.answer(gone, ())
    return ExitStatus.DONE


def _setup_of(program: Program) -> WorkerSetup:
    return WorkerSetup(program.address_book, program.credentials, program.connections)


def _account_id(call: Call) -> str:
    """The account that was named, else that of the first connection; "" only where nothing is sent."""
    given = call.account or read_address_book(call).account_id
    if not given and not call.dry_run:
        raise usage_error("Give the account's id: --account.")
    return clean_account_id(given) if given else ""


def _shown(calls: Sequence[account.Call], account_id: str, sentence: str, call: Call) -> bool:
    """Print the calls, and a sentence about them; whether the user agrees. The account's id may be ""."""
    console = call.console
    lines = [line for number, each in enumerate(calls, 1) for line in _lines_of(number, each)]
    if call.dry_run:
        call.answer({"calls": calls}, lines)
        return False
    console.say(tr("These calls are made to Cloudflare, in this order:"))
    for line in lines:
        console.say(line)
    permissions = enumerated([*dict.fromkeys(each.permission for each in calls)])
    words = tr(
        "The token needs {permissions} for this account; the dashboard calls these “Edit”. Make one for this, here:"
    )
    console.say(words, permissions=said(permissions))
    console.say(account.token_page(account_id))
    if sentence:
        console.say(sentence)
    return agreed(console, call.yes)


def _lines_of(number: int, call: account.Call) -> tuple[str, str]:
    needs = worded("needs {permission}", permission=call.permission)
    return f"{number:2}. {said(call.sentence)}", f"    {call.words}  {needs}"


def _token(call: Call) -> Token:
    """Out of whatever was pasted."""
    given = read_secret(tr("One-time API token: "), call.token_from)
    pasted = read_pasted(given)
    if pasted.problem:
        raise NotConnected(pasted.problem)
    return pasted.token or check_form(given)


def stopped(error: Stopped, console: Console) -> ExitStatus:
    console.say_error(error)
    if error.detail:
        console.say(tr("Details: {words}"), words=one_line(error.detail))
    if isinstance(error.reason, NotOurs):
        console.say(tr("That is: --worker {name}, or --replace."), name=error.reason.other_name)
    if isinstance(error.reason, SecretWouldBeLost):
        console.say(tr("That is: --secret-from VARIABLE."))
    return status_of_error(error.reason)


def _printing(calls: Sequence[account.Call], console: Console) -> Callable[[account.Progress], None]:
    """A line for each call that has ended, or waits, by its number in the list."""
    numbers = {call.step: number for number, call in enumerate(calls, 1)}
    printed: dict[account.Step, account.State] = {}

    def show(progress: account.Progress) -> None:
        step, state = progress.call.step, progress.state
        if state is account.State.RUNNING or (state is not account.State.WAITING and printed.get(step) is state):
            return  # what is deleted one after the other has one line
        printed[step] = state
        note = "" if step is account.Step.DELETE_ANSWER and state is account.State.DONE else said(progress.note)
        console.say(f"{numbers[step]:2}. {said(_STATES[state])} {note}".rstrip())

    return show
