"""`cfbatch connections`: the ways to the service, its check, and the user's Worker, put there by a token of one use."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from cfbatch_gui.cli.console import (
    Call,
    Console,
    ExitStatus,
    agreed,
    fields_of,
    from_variable,
    listed,
    read_secret,
    status_of_error,
)
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.working import Work, check_outputs, opened, read_address_book, say_where
from cfbatch_gui.core import worker_setup
from cfbatch_gui.core.connections.address_book import ConnectionSummary, free_name, gateway_secret_id
from cfbatch_gui.core.connections.credentials import CLOUDFLARE
from cfbatch_gui.core.errors import NotConnected, OutcomeUnknown
from cfbatch_gui.core.messages import enumerated, literal
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.system.settings import SavedConnection, Settings
from cfbatch_gui.core.worker_setup import COSTS, NotOurs, SecretWouldBeLost, State, Step, Stopped, WorkerSetup
from cfbatch_gui.core.workers_ai import probe
from cfbatch_gui.core.workers_ai.api_tokens import Pasted, Token, check_form, check_secret, read_pasted
from cfbatch_gui.core.workers_ai.checking import CheckResult, has_failed, has_passed
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, clean_account_id
from cfbatch_gui.words.connections import answer_words, connection_facts, kind_words
from cfbatch_gui.words.figures import number, one_line, plural, prices, told, usage_error, worded
from cfbatch_gui.words.languages import said, tr

EXAMPLES = """
  cfbatch connections add cloudflare --account 0123456789abcdef0123456789abcdef
  cfbatch connections add worker --url https://batch.example.workers.dev --secret-from SHARED_SECRET
  cfbatch connections add worker --url https://batch.example.workers.dev --collects --keep-days 7
  cfbatch connections add gateway --account 0123… --gateway my-gateway --name Logged < token.txt
"""
_OPTIONS = {"account_id": "--account", "url": "--url", "gateway": "--gateway"}


def add_arguments(parser: Parser) -> None:
    parser.set_defaults(act=_list, json=False)
    command = partial(parser.add_action, required=False)
    listing = command("list", tr("list all connections; so does no action at all"), _list)
    adding = command("add", tr("add a connection, and test it"), _add)
    _add_options(adding)
    changing = command("change", tr("change whether a Worker collects answers in your account"), _change)
    testing = command("test", tr("ask four questions that cost nothing and send no text"), _test)
    words = tr("check what is assumed of the service; sends small batches of its own, for less than $0.001")
    probing = command("probe", words, _probe)
    words = tr("put a Worker that collects answers into your account, and add the connection to it")
    _add_set_up_options(command("set-up", words, _set_up))
    words = tr("take that Worker out of your account again, with all that goes with it")
    _add_take_down_options(command("take-down", words, _take_down))
    removing = command("remove", tr("forget a connection and its secrets; its jobs stay"), _remove)
    for each in (changing, testing, probing, removing):
        each.add_options("connection NAME  its name or id")
    _add_collecting_options(changing)
    testing.add_options("--model M  the model that is asked about (default: as set in the window)")
    _add_probe_options(probing)
    removing.add_options("--force  also while jobs are under way there, which then pause")
    for each in (listing, adding, testing):
        each.add_options("--json  print one JSON object")


def _add_options(parser: Parser) -> None:
    parser.epilog = told("secret_is_asked_for") + "\n\n" + tr("examples:") + EXAMPLES
    parser.add_options("""
        kind cloudflare|worker|gateway  an account, a Worker of your own, or an AI Gateway
        --name NAME  what to call it
        --account ID  the account's id, or a dashboard address with it
        --url ADDRESS  of a Worker
        --gateway GATEWAY  the gateway's id, or its whole address
        --by-header  reach the gateway by a header on the usual address
        --paid-plan  the Worker is on the Paid plan: batches up to 10 MB
        --secret-from VARIABLE  where the token or secret stands
        --gateway-token-from VARIABLE  where the token stands that the gateway asks for
        --use  new jobs go there from now on
        --no-test  do not ask the service anything
    """)
    _add_collecting_options(parser)


async def run(call: Call) -> int | None:
    try:
        return await call.act(call)
    except Stopped as error:
        return _stopped(error, call.console)


async def _list(call: Call) -> None:
    settings = call.settings
    book = read_address_book(call)
    facts, saved = await book.summaries(), {each.id: each for each in book.saved()}
    used = settings.connection or PRACTICE.id
    rows = [connection_facts(each, saved.get(each.id), is_used=each.id == used) for each in facts]
    call.answer({"connections": [_object(each, settings) for each in facts]}, listed(rows, call.console.width))


async def _add(call: Call) -> int:
    prompt = tr("The Worker's secret: ") if call.kind == "worker" else tr("API token: ")
    given = read_secret(prompt, call.secret_from)
    gateway_token = from_variable(call.gateway_token_from) if call.gateway_token_from else ""
    async with opened(call) as work:
        program = work.program
        record, secret = _record(call, given, program)
        record = await program.connections.save(record, secret=secret, gateway_secret=gateway_token)
        if call.use:
            await program.keep_settings(connection=record.id)
        call.console.tell("added_name_id", name=record.name, id=record.id)
        if record.collects:
            call.console.say(_collecting_words(record))
        for secret_id in (record.id, gateway_secret_id(record.id)):
            await say_where(work, record.name, secret_id)
        model = program.settings.model
        results = () if call.no_test else await program.connections.check(record.id, model)
        if record.id == CLOUDFLARE and results and not has_failed(results):
            await program.connections.use_if_none(record.id)
        return await _answer(work, record.id, results)


async def _test(call: Call) -> int:
    async with opened(call) as work:
        found = work.program.address_book.find(call.connection)
        results = await work.program.connections.check(found, call.model or work.program.settings.model)
        return await _answer(work, found, results)


async def _remove(call: Call) -> None:
    async with opened(call) as work:
        program = work.program
        found = program.address_book.find(call.connection)
        if found == PRACTICE.id:
            raise usage_error("practice_service_is_always_there")
        at_work = [
            job.id
            for job in program.ledger.jobs()
            if job.connection == found and any(not batch.state.is_final for batch in job.batches)
        ]
        if at_work and not call.force:
            raise usage_error("jobs_are_under_way_there_jobs", jobs=", ".join(at_work))
        title = program.address_book.title(found)
        await program.connections.remove(found)
        call.console.tell("removed_name_secrets", name=said(title))


def _record(call: Call, given: str, program: Program) -> tuple[SavedConnection, str]:
    """The connection to save, and its secret; an account id pasted with the secret is used too."""
    saved, words = program.address_book.saved(), kind_words(call.kind)
    pasted = Pasted() if call.kind == "worker" else read_pasted(given)
    if pasted.problem:
        raise NotConnected(pasted.problem)
    gateway = call.gateway or ""
    values = {
        "account_id": call.account or pasted.account_id,
        "url": call.url,
        "gateway": (read_pasted(gateway).gateway if "://" in gateway else gateway) or pasted.gateway,
    }
    needed = {each.name: values[each.name] for each in words.rows if each.name in values}
    for each in words.rows:
        if not needed.get(each.name, "given"):
            raise usage_error("sentence_option", sentence=each.missing, option=_OPTIONS[each.name])
    if call.kind == "cloudflare":
        needed["url"] = pasted.base_url
    name = call.name or free_name(words.name, (each.name for each in saved))
    record = SavedConnection("", name, call.kind, **needed, by_header=call.by_header, paid_plan=call.paid_plan)
    if call.kind == "cloudflare" and not (call.name or pasted.base_url or saved[0].account_id):  # the first account
        record = replace(record, id=CLOUDFLARE, name=saved[0].name)
    return _as_asked(record, call), pasted.token.reveal() if pasted.token else given


async def _answer(work: Work, connection_id: str, results: Sequence[CheckResult]) -> ExitStatus:
    facts = next(each for each in await work.program.address_book.summaries() if each.id == connection_id)
    tested = [fields_of(each, "title", "ok", "sentence") for each in results]
    lines = (
        f"{said(each.title)}: {answer_words(results, number).text}. {said(each.sentence)}".rstrip()
        for number, each in enumerate(results)
        if each.ok or each.sentence
    )
    work.answer({**_object(facts, work.program.settings), "test": tested}, lines)
    return ExitStatus.DONE if not results or has_passed(results) else ExitStatus.NO_CONNECTION


def _object(facts: ConnectionSummary, settings: Settings) -> dict[str, object]:
    saved = [each for each in settings.connections if each.id == facts.id and each.kind == "worker"]
    return {
        **fields_of(facts, "id", "kind", "sentence"),
        "name": facts.title,
        "ready": facts.is_ready,
        "confirmed": facts.is_confirmed,
        "for_new_jobs": facts.id == (settings.connection or PRACTICE.id),
        **(fields_of(saved[0], "collects", "keep_days") if saved else {}),
    }


def _add_collecting_options(parser: Parser) -> None:
    parser.add_options("""
        --[no-]collects  of a Worker: your account collects the answers of its jobs, so that the computer may be turned
            off, or they are asked for from this computer (the default)
        --keep-days DAYS  of a Worker: how long your account keeps its copies when all answers are here (default: 0)
    """)


async def _change(call: Call) -> None:
    if call.collects is None and call.keep_days is None:
        raise usage_error("say_what_is_change_collects_no")
    async with opened(call) as work:
        found = work.program.address_book.find(call.connection)
        saved = {each.id: each for each in work.program.address_book.saved()}
        practice = SavedConnection(found, "", "cloudflare")  # which is not saved
        record = await work.program.connections.save(_as_asked(saved.get(found, practice), call))
    call.console.say(_collecting_words(record))


def _as_asked(record: SavedConnection, call: Call) -> SavedConnection:
    collects = record.collects if call.collects is None else call.collects
    days = record.keep_days if call.keep_days is None else call.keep_days
    if record.kind != "worker" and (call.collects is not None or call.keep_days is not None):
        raise usage_error("only_worker_your_own_can_collect")
    return replace(record, collects=collects, keep_days=days)


def _collecting_words(record: SavedConnection) -> str:
    if not record.collects:
        return worded("“{name}”: the answers are asked for from this computer.", name=record.name)
    return told("name_your_account_collects_answers_keeps", n=record.keep_days, name=record.name)


def _add_probe_options(parser: Parser) -> None:
    parser.epilog = told("says_price_asks_or_wants_yes")
    parser.add_options(
        """
        --model M  the model to check (default: as set in the window)
        --yes  agree to the price without being asked
        --report FILE  write the report there too; as JSON for .json
        --json  print the report as one JSON object
        --wait SECONDS  how long to wait for the batches (default: {n})
        """,
        {"--wait": {"default": probe.WAIT_SECONDS}},
        n=number(probe.WAIT_SECONDS, "g"),
    )


async def _probe(call: Call) -> ExitStatus:
    report: Path | None = call.report
    check_outputs([report] if report is not None else [], None)
    console = call.console
    async with opened(call) as work:
        program = work.program
        found = program.address_book.find(call.connection)
        plan = program.connections.plan_probe(found, call.model or program.settings.model)
        is_practice = found == PRACTICE.id
        batches = plural(len(plan.batches), "{n} small batch", "{n} small batches")
        console.tell(
            "batches_one_request_without_queue_go",
            batches=batches,
            model=plan.model.name,
            connection=said(program.address_book.title(found)),
            price=tr("it costs nothing") if is_practice else prices(plan.price),
        )
        if not agreed(console, is_practice or call.yes):
            return ExitStatus.FAILED
        result = await program.connections.probe(found, plan, show=console.say, wait_seconds=call.wait)
    if report is not None:
        write_atomically(report, probe.report_for(result, report))
        console.tell("wrote_report_path_look_before_you", path=report)
    console.say(probe.counts_sentence(result.findings))
    console.print_result((probe.json_report(result) if call.json else probe.text_report(result)).splitlines())
    if any(isinstance(each.error, OutcomeUnknown) for each in result.failures):
        return ExitStatus.OUTCOME_UNKNOWN
    if not result.is_whole or any(each.outcome is probe.Outcome.NOT_HELD for each in result.findings):
        return ExitStatus.FAILED
    return ExitStatus.DONE


def _add_set_up_options(parser: Parser) -> None:
    _add_common(parser)
    parser.add_options("""
        --name NAME  what to call the connection
        --paid-plan  the account is on the Workers Paid plan: batches up to 10 MB
        --replace  replace a Worker or a Workflow of this name that this program did not put there
        --secret-from VARIABLE  where a secret of your own for the Worker stands (default: one is made and kept in the
            keyring)
        --use  new jobs go there from now on
    """)


def _add_take_down_options(parser: Parser) -> None:
    parser.add_options("connection [NAME]  the name or id of the connection to it")
    _add_common(parser)
    parser.add_options("""
        --keep-answers  keep the bucket with what is stored in it; R2 goes on billing it
        --forget  forget the connection and its secret too; its jobs stay
    """)


def _add_common(parser: Parser) -> None:
    parser.epilog = told("lists_every_call_makes_permission_needs")
    parser.add_options("""
        --account ID  the account's id, or a dashboard address with it
        --worker WORKER  what the Worker is called in the account
        --token-from VARIABLE  where the token stands
        --yes  agree to the calls without being asked
        --dry-run  print the calls, and make none
        --json  print one JSON object
    """)


async def _set_up(call: Call) -> ExitStatus:
    console = call.console
    names = worker_setup.names_of(call.worker) if call.worker else worker_setup.names_of()
    account_id = _account_id(call)
    calls = worker_setup.setting_up_calls(names, account_id)
    own_secret = check_secret(from_variable(call.secret_from)) if call.secret_from else None
    token = _agreed_token(calls, account_id, said(COSTS), call)
    if token is None:
        return ExitStatus.DONE if call.dry_run else ExitStatus.FAILED
    async with opened(call) as work:
        done = await WorkerSetup(work.program.connections).set_up(
            *(account_id, token, names),
            title=call.name or kind_words("worker").name,
            paid_plan=call.paid_plan,
            may_replace=call.replace,
            own_secret=own_secret,
            must_keep_secret=True,
            show=_printing(calls, console),
        )
        connection = done.connection
        if call.use:
            await work.program.keep_settings(connection=connection.id)
        console.say(*done.sentences())
        console.tell("new_address_may_take_minute_until", command=f"cfbatch connections test {connection.id}")
        await say_where(work, connection.name, connection.id)
        call.answer({"id": connection.id, "name": connection.name, "url": connection.url, "added": done.is_new}, ())
    return ExitStatus.DONE


async def _take_down(call: Call) -> ExitStatus:
    book, console = read_address_book(call), call.console
    found = book.find(call.connection) if call.connection else ""
    url = next((each.url for each in book.saved() if each.id == found), "")
    if call.forget and not found:
        raise usage_error("name_connection_is_be_forgotten")
    if not call.worker and not found:
        raise usage_error("name_connection_worker_or_worker_worker")
    names = worker_setup.names_of(call.worker) if call.worker else worker_setup.names_at(url)
    account_id = _account_id(call)
    calls = worker_setup.removing_calls(names, account_id, keep_bucket=call.keep_answers)
    stays = tr("The connection in this program stays.") if not call.forget else ""
    token = _agreed_token(calls, account_id, stays, call)
    if token is None:
        return ExitStatus.DONE if call.dry_run else ExitStatus.FAILED
    async with opened(call) as work:
        taken = await WorkerSetup(work.program.connections).take_down(
            *(account_id, token, names), keep_bucket=call.keep_answers, show=_printing(calls, console)
        )
        if call.forget:
            await work.program.connections.remove(found)
    console.say(*taken.sentences())
    gone = {"worker": taken.worker, "workflow": taken.workflow, "bucket": taken.bucket, "objects": taken.answers}
    call.answer(gone, ())
    return ExitStatus.DONE


def _account_id(call: Call) -> str:
    """The account that was named, else that of the first connection; "" only where nothing is sent."""
    given = call.account or read_address_book(call).account_id
    if not given and not call.dry_run:
        raise usage_error("give_account_id_account")
    return clean_account_id(given) if given else ""


def _agreed_token(calls: Sequence[worker_setup.Call], account_id: str, sentence: str, call: Call) -> Token | None:
    """Print the calls, and a sentence about them; the token, out of whatever is pasted, if the user agrees.

    The account's id may be "".
    """
    console = call.console
    lines = []
    for at, each in enumerate(calls, 1):
        needs = worded("needs {permission}", permission=each.permission)
        lines += [f"{at:2}. {said(each.sentence)}", f"    {each.words}  {needs}"]
    if call.dry_run:
        call.answer({"calls": calls}, lines)
        return None
    console.tell("these_calls_are_made_cloudflare_order")
    console.say(*lines)
    permissions = enumerated([*dict.fromkeys(each.permission for each in calls)])
    console.tell("token_needs_permissions_account_dashboard_calls", permissions=said(permissions))
    console.say(worker_setup.token_page(account_id))
    if sentence:
        console.say(sentence)
    if not agreed(console, call.yes):
        return None
    given = read_secret(tr("One-time API token: "), call.token_from)
    pasted = read_pasted(given)
    if pasted.problem:
        raise NotConnected(pasted.problem)
    return pasted.token or check_form(given)


def _stopped(error: Stopped, console: Console) -> ExitStatus:
    console.say_error(error)
    if error.detail:
        console.tell("details_words", words=one_line(error.detail))
    if isinstance(error.reason, NotOurs):
        console.tell("is_worker_name_or_replace", name=error.reason.other_name)
    if isinstance(error.reason, SecretWouldBeLost):
        console.tell("is_secret_from_variable")
    return status_of_error(error.reason)


def _printing(calls: Sequence[worker_setup.Call], console: Console) -> worker_setup.Show:
    """A line for each call that has ended, or waits, by its number in the list."""
    numbers = {call.step: number for number, call in enumerate(calls, 1)}
    printed: dict[Step, State] = {}

    def show(step: Step, state: State, note: str) -> None:
        if state is State.RUNNING or (state is not State.WAITING and printed.get(step) is state):
            return  # what is deleted one after the other has one line
        printed[step] = state
        words = "" if step is Step.DELETE_ANSWER and state is State.DONE else said(note)
        console.say(f"{numbers[step]:2}. {said(literal(state.value))} {words}".rstrip())

    return show
