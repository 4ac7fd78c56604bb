"""`cfbatch connections`: the connections to the service."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from cfbatch_gui.cli import worker_setup
from cfbatch_gui.cli.console import Call, ExitStatus, agreed, fields_of, from_variable, read_secret, table
from cfbatch_gui.cli.language import number, plural, tr, usage_error, worded
from cfbatch_gui.cli.parser import Actions, Parser, number_in
from cfbatch_gui.cli.working import Work, check_outputs, most_words, opened, read_address_book, say_where
from cfbatch_gui.core.connections.address_book import ConnectionSummary, free_name, gateway_secret_id
from cfbatch_gui.core.connections.credentials import CLOUDFLARE
from cfbatch_gui.core.errors import NotConnected, OutcomeUnknown
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import SavedConnection, Settings
from cfbatch_gui.core.worker_setup.worker_setup import Stopped
from cfbatch_gui.core.workers_ai import probe
from cfbatch_gui.core.workers_ai.api_tokens import read_pasted
from cfbatch_gui.core.workers_ai.checking import CheckResult, has_failed, has_passed
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE

EXAMPLES = """
  cfbatch connections add cloudflare --account 0123456789abcdef0123456789abcdef
  cfbatch connections add worker --url https://batch.example.workers.dev --secret-from SHARED_SECRET
  cfbatch connections add worker --url https://batch.example.workers.dev --collects --keep-days 7
  cfbatch connections add gateway --account 0123… --gateway my-gateway --name Logged < token.txt
"""
_TITLES = {"cloudflare": "Cloudflare", "worker": "My Worker", "gateway": "AI Gateway"}
_RESULTS = {
    True: message("{title}: yes. {sentence}"),
    False: message("{title}: NO. {sentence}"),
    None: message("{title}: not certain. {sentence}"),
}


def add_arguments(parser: Parser, *, parents: Sequence[Parser]) -> None:
    parser.set_defaults(act=_list, json=False)
    command = Actions(parser, parents, required=False).add
    listing = command("list", tr("list all connections; so does no action at all"), _list)
    adding = command("add", tr("add a connection, and test it"), _add)
    _add_options(adding)
    changing = command("change", tr(_CHANGE_WORDS), _change)
    changing.add_options("connection NAME  its name or id")
    _add_collecting_options(changing)
    testing = command("test", tr("ask four questions that cost nothing and send no text"), _test)
    testing.add_options(
        """
        connection NAME  its name or id
        --model M  the model that is asked about (default: as set in the window)
        """
    )
    add_probe_arguments(command("probe", tr(_PROBE_WORDS), run_probe))
    worker_setup.add_set_up_arguments(command("set-up", tr(worker_setup.SET_UP_WORDS), worker_setup.set_up))
    worker_setup.add_take_down_arguments(command("take-down", tr(worker_setup.TAKE_DOWN_WORDS), worker_setup.take_down))
    removing = command("remove", tr("forget a connection and its secrets; its jobs stay"), _remove)
    removing.add_options(
        """
        connection NAME  its name or id
        --force  also while jobs are under way there, which then pause
        """
    )
    for each in (listing, adding, testing):
        each.add_options("--json  print one JSON object")


def _add_options(parser: Parser) -> None:
    secrets = tr(
        "The secret is asked for, or comes on standard input or from a variable that --secret-from names; never as an"
        " argument.\nAn API token may come in whatever it was copied with, such as a curl line."
    )
    parser.epilog = secrets + "\n\n" + tr("examples:") + EXAMPLES
    parser.add_options(
        """
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
        """
    )
    _add_collecting_options(parser)


async def run(call: Call) -> int | None:
    try:
        return await call.act(call)
    except Stopped as error:
        return worker_setup.stopped(error, call.console)


async def _list(call: Call) -> None:
    settings = call.settings
    facts = await read_address_book(call).summaries()
    used = settings.connection or PRACTICE.id
    collecting = [each.id for each in settings.connections if each.collects]
    rows = []
    for each in facts:
        words = said(each.sentence)
        if each.id in collecting:
            words = worded("{sentence} It collects in your account.", sentence=words)
        is_ready = tr("ready") if each.is_ready else tr("not ready")
        is_default = tr("default", "connection") if each.id == used else ""
        rows.append((each.id, said(each.title), each.kind, is_ready, is_default, words))
    titles = (tr("ID"), tr("NAME"), tr("KIND"), tr("STATE"), tr("NEW JOBS"), "")
    call.answer(
        {"connections": [_object(each, settings) for each in facts]},
        table(titles, rows, call.console.width),
    )


async def _add(call: Call) -> int:
    prompt = tr("The Worker's secret: ") if call.kind == "worker" else tr("API token: ")
    given = read_secret(prompt, call.secret_from)
    gateway_token = from_variable(call.gateway_token_from) if call.gateway_token_from else ""
    async with opened(call) as work:
        program = work.program
        record, secret = _record(call, given, program)
        if record.id == CLOUDFLARE:
            await program.connections.save_cloudflare(record.account_id, secret)
        else:
            record = await program.connections.save(record, secret=secret, gateway_secret=gateway_token)
        if call.use:
            await program.keep_settings(connection=record.id)
        call.console.say(tr("Added “{name}”, {id}."), name=record.name, id=record.id)
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
            raise usage_error("The practice service is always there.")
        at_work = [
            job.id
            for job in program.ledger.jobs()
            if job.connection == found and any(not batch.state.is_final for batch in job.batches)
        ]
        if at_work and not call.force:
            raise usage_error(
                "Jobs are under way there: {jobs}. With --force they pause, and what is at the service can be"
                " collected only by adding them again with their request IDs.",
                jobs=", ".join(at_work),
            )
        title = program.address_book.title(found)
        await program.connections.remove(found)
        call.console.say(tr("Removed “{name}” and its secrets."), name=said(title))


def _record(call: Call, given: str, program: Program) -> tuple[SavedConnection, str]:
    """The connection to save, and its secret; an account id pasted with the secret is used too."""
    saved = program.address_book.saved()
    name = call.name or free_name(_TITLES[call.kind], (each.name for each in saved))
    record = _as_asked(SavedConnection("", name, call.kind), call)
    if call.kind == "worker":
        if not call.url:
            raise usage_error("Give the Worker's address: --url https://….workers.dev")
        return replace(record, url=call.url, paid_plan=call.paid_plan), given
    pasted = read_pasted(given)
    if pasted.problem:
        raise NotConnected(pasted.problem)
    secret = pasted.token.reveal() if pasted.token else given
    record = replace(record, account_id=call.account or pasted.account_id)
    if not record.account_id:
        raise usage_error("Give the account's id: --account, or what you copied, with the id in it, as the secret.")
    if call.kind == "gateway":
        gateway = _gateway(call.gateway or "") or pasted.gateway
        if not gateway:
            raise usage_error("Give the gateway's id: --gateway, as the dashboard shows it.")
        return replace(record, gateway=gateway, by_header=call.by_header), secret
    if not call.name and not pasted.base_url and not saved[0].account_id:  # the first account
        return replace(record, id=CLOUDFLARE, name=saved[0].name), secret
    return replace(record, url=pasted.base_url), secret


def _gateway(text: str) -> str:
    return read_pasted(text).gateway if "://" in text else text


async def _answer(work: Work, connection_id: str, results: Sequence[CheckResult]) -> ExitStatus:
    facts = next(each for each in await work.program.connections.summaries() if each.id == connection_id)
    tested = [fields_of(each, "title", "ok", "sentence") for each in results]
    lines = (
        said(_RESULTS[each.ok].filled(title=each.title, sentence=each.sentence)).rstrip()
        for each in results
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


_CHANGE_WORDS: Final = message("change whether a Worker collects answers in your account")


def _add_collecting_options(parser: Parser) -> None:
    parser.add_options(
        """
        --[no-]collects  of a Worker: your account collects the answers of its jobs, so that the computer may be turned
            off, or they are asked for from this computer (the default)
        --keep-days DAYS  of a Worker: how long your account keeps its copies when all answers are here (default: 0)
        """,
        {"--keep-days": number_in(0, 9_999, message("give a number of days, from 0 to 9999"), whole=True)},
    )


async def _change(call: Call) -> None:
    if call.collects is None and call.keep_days is None:
        raise usage_error("Say what is to change: --collects, --no-collects or --keep-days DAYS.")
    async with opened(call) as work:
        found = work.program.address_book.find(call.connection)
        record = next((each for each in work.program.address_book.saved() if each.id == found), None)
        if record is None:  # the practice service, which is not saved
            record = SavedConnection(found, "", "cloudflare")
        record = await work.program.connections.save(_as_asked(record, call))
    call.console.say(_collecting_words(record))


def _as_asked(record: SavedConnection, call: Call) -> SavedConnection:
    collects = record.collects if call.collects is None else call.collects
    days = record.keep_days if call.keep_days is None else call.keep_days
    if record.kind != "worker" and (call.collects is not None or call.keep_days is not None):
        raise usage_error("Only a Worker of your own can collect answers in your account. Name the connection of one.")
    return replace(record, collects=collects, keep_days=days)


def _collecting_words(record: SavedConnection) -> str:
    if not record.collects:
        return worded("“{name}”: the answers are asked for from this computer.", name=record.name)
    return plural(
        record.keep_days,
        "“{name}”: your account collects the answers, and keeps its copies for {n} day when all of them are here.",
        "“{name}”: your account collects the answers, and keeps its copies for {n} days when all of them are here.",
        name=record.name,
    )


_PROBE_WORDS: Final = message(
    "check what is assumed of the service; sends small batches of its own, for less than $0.001"
)
_EPILOG: Final = message(
    """\
It says its price and asks, or wants --yes. Of each assumption of docs/protocol.md it says: held, not held, not seen.
The report has no token, no account id, no text of yours and only the beginning of request ids; it is sent nowhere.
Exit status 0: nothing that could be seen is otherwise than assumed, and every batch was finished."""
)


def add_probe_arguments(parser: Parser) -> None:
    parser.epilog = said(_EPILOG)
    parser.add_options(
        """
        connection NAME  its name or id
        --model M  the model to check (default: as set in the window)
        --yes  agree to the price without being asked
        --report FILE  write the report there too; as JSON for .json
        --json  print the report as one JSON object
        --wait SECONDS  how long to wait for the batches (default: {n})
        """,
        {"--wait": {"default": probe.WAIT_SECONDS}},
        n=number(probe.WAIT_SECONDS, "g"),
    )


async def run_probe(call: Call) -> ExitStatus:
    report: Path | None = call.report
    check_outputs([report] if report is not None else [], None)
    console = call.console
    async with opened(call) as work:
        program = work.program
        found = program.address_book.find(call.connection)
        plan = program.connections.plan_probe(found, call.model or program.settings.model)
        is_practice = found == PRACTICE.id
        console.say(
            plural(
                len(plan.batches),
                "One small batch of the program's own texts and one request without the queue go to {model} through"
                " “{connection}”: {price}.",
                "{n} small batches of the program's own texts and one request without the queue go to {model} through"
                " “{connection}”: {price}.",
                model=plan.model.name,
                connection=said(program.address_book.title(found)),
                price=tr("it costs nothing") if is_practice else most_words(plan.price, digits=5),
            )
        )
        if not agreed(console, is_practice or call.yes):
            return ExitStatus.FAILED
        result = await program.connections.probe(
            found, plan, show=lambda sentence: console.say(said(sentence)), wait_seconds=call.wait
        )
    if report is not None:
        text = probe.json_report(result) if report.suffix.lower() == ".json" else probe.text_report(result)
        write_atomically(report, text.encode())
        console.say(tr("Wrote the report to {path}. Look at it before you send it to anybody."), path=report)
    console.say(said(probe.counts_sentence(result.findings)))
    console.print_result((probe.json_report(result) if call.json else probe.text_report(result)).splitlines())
    if any(isinstance(each.error, OutcomeUnknown) for each in result.evidence.calls):
        return ExitStatus.OUTCOME_UNKNOWN
    if not result.is_whole or any(each.outcome is probe.Outcome.NOT_HELD for each in result.findings):
        return ExitStatus.FAILED
    return ExitStatus.DONE
