"""`cfbatch connections`: the connections to the service."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from cfbatch_gui.cli import worker_setup
from cfbatch_gui.cli.console import Console, agreed, from_variable, read_secret, table
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.language import number, plural, tr
from cfbatch_gui.cli.parser import Actions, Parser, number_in
from cfbatch_gui.cli.pricing import most_words
from cfbatch_gui.cli.working import check_outputs, opened, read_address_book, say_where
from cfbatch_gui.core.connections.address_book import ConnectionSummary, free_name, gateway_secret_id
from cfbatch_gui.core.connections.credentials import CLOUDFLARE
from cfbatch_gui.core.errors import NotConnected, OutcomeUnknown, UsageError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import SavedConnection
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


async def run(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    try:
        return int(await arguments.act(arguments, paths, console))
    except Stopped as error:
        return worker_setup.stopped(error, console)


async def _list(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    settings, book = read_address_book(paths)
    facts = await book.summaries()
    used = settings.connection or PRACTICE.id
    if arguments.json:
        console.print_json({"connections": [_object(each, used, settings.connections) for each in facts]})
        return ExitStatus.DONE
    rows = [
        (
            each.id,
            said(each.title),
            each.kind,
            tr("ready") if each.is_ready else tr("not ready"),
            tr("default", "connection") if each.id == used else "",
            _list_words(each, settings.connections),
        )
        for each in facts
    ]
    titles = (tr("ID"), tr("NAME"), tr("KIND"), tr("STATE"), tr("NEW JOBS"), "")
    console.print_result(table(titles, rows, console.width))
    return ExitStatus.DONE


async def _add(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    prompt = tr("The Worker's secret: ") if arguments.kind == "worker" else tr("API token: ")
    given = read_secret(prompt, arguments.secret_from)
    gateway_token = from_variable(arguments.gateway_token_from) if arguments.gateway_token_from else ""
    async with opened(paths, console) as (program, _):
        record, secret = _record(arguments, given, program)
        if record.id == CLOUDFLARE:
            await program.connections.save_cloudflare(record.account_id, secret)
        else:
            record = await program.connections.save(record, secret=secret, gateway_secret=gateway_token)
        if arguments.use:
            await program.keep_settings(connection=record.id)
        console.say(tr("Added “{name}”, {id}."), name=record.name, id=record.id)
        if record.collects:
            console.say(_collecting_words(record))
        for secret_id in (record.id, gateway_secret_id(record.id)):
            await say_where(program, record.name, secret_id, console)
        model = program.settings.model
        results = () if arguments.no_test else await program.connections.check(record.id, model)
        if record.id == CLOUDFLARE and results and not has_failed(results):
            await program.connections.use_if_none(record.id)
        return await _answer(program, record.id, results, arguments, console)


async def _test(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    async with opened(paths, console) as (program, _):
        found = program.address_book.find(arguments.connection)
        results = await program.connections.check(found, arguments.model or program.settings.model)
        return await _answer(program, found, results, arguments, console)


async def _remove(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    async with opened(paths, console) as (program, _):
        found = program.address_book.find(arguments.connection)
        if found == PRACTICE.id:
            raise UsageError(message("The practice service is always there."))
        at_work = [
            job
            for job in program.ledger.jobs()
            if job.connection == found and any(not batch.state.is_final for batch in job.batches)
        ]
        if at_work and not arguments.force:
            raise UsageError(
                message(
                    "Jobs are under way there: {jobs}. With --force they pause, and what is at the service can be"
                    " collected only by adding them again with their request IDs.",
                    jobs=", ".join(job.id for job in at_work),
                )
            )
        title = program.address_book.title(found)
        await program.connections.remove(found)
        console.say(tr("Removed “{name}” and its secrets."), name=said(title))
        return ExitStatus.DONE


def _record(arguments: argparse.Namespace, given: str, program: Program) -> tuple[SavedConnection, str]:
    """The connection to save, and its secret; an account id pasted with the secret is used too."""
    saved = program.address_book.saved()
    name = arguments.name or free_name(_TITLES[arguments.kind], (each.name for each in saved))
    record = _as_asked(SavedConnection("", name, arguments.kind), arguments)
    if arguments.kind == "worker":
        if not arguments.url:
            raise UsageError(message("Give the Worker's address: --url https://….workers.dev"))
        return replace(record, url=arguments.url, paid_plan=arguments.paid_plan), given
    pasted = read_pasted(given)
    if pasted.problem:
        raise NotConnected(pasted.problem)
    secret = pasted.token.reveal() if pasted.token else given
    record = replace(record, account_id=arguments.account or pasted.account_id)
    if not record.account_id:
        raise UsageError(
            message("Give the account's id: --account, or what you copied, with the id in it, as the secret.")
        )
    if arguments.kind == "gateway":
        gateway = _gateway(arguments.gateway or "") or pasted.gateway
        if not gateway:
            raise UsageError(message("Give the gateway's id: --gateway, as the dashboard shows it."))
        return replace(record, gateway=gateway, by_header=arguments.by_header), secret
    if not arguments.name and not pasted.base_url and not saved[0].account_id:  # the first account
        return replace(record, id=CLOUDFLARE, name=saved[0].name), secret
    return replace(record, url=pasted.base_url), secret


def _gateway(text: str) -> str:
    return read_pasted(text).gateway if "://" in text else text


async def _answer(
    program: Program,
    connection_id: str,
    results: Sequence[CheckResult],
    arguments: argparse.Namespace,
    console: Console,
) -> ExitStatus:
    facts = next(each for each in await program.connections.summaries() if each.id == connection_id)
    if arguments.json:
        tested = [{"title": each.title, "ok": each.ok, "sentence": each.sentence} for each in results]
        used = program.settings.connection or PRACTICE.id
        found = {**_object(facts, used, program.settings.connections), "test": tested}
        console.print_json(found)
    else:
        console.print_result(
            said(_RESULTS[each.ok].filled(title=each.title, sentence=each.sentence)).rstrip()
            for each in results
            if each.ok or each.sentence
        )
    return ExitStatus.DONE if not results or has_passed(results) else ExitStatus.NO_CONNECTION


def _list_words(facts: ConnectionSummary, saved: Sequence[SavedConnection]) -> str:
    if any(each.id == facts.id and each.collects for each in saved):
        return tr("{sentence} It collects in your account.").format(sentence=said(facts.sentence))
    return said(facts.sentence)


def _object(facts: ConnectionSummary, used: str, saved: Sequence[SavedConnection]) -> dict[str, object]:
    record = next((each for each in saved if each.id == facts.id and each.kind == "worker"), None)
    return {
        "id": facts.id,
        "name": facts.title,
        "kind": str(facts.kind),
        "ready": facts.is_ready,
        "confirmed": facts.is_confirmed,
        "for_new_jobs": facts.id == used,
        "sentence": facts.sentence,
        **({"collects": record.collects, "keep_days": record.keep_days} if record else {}),
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


async def _change(arguments: argparse.Namespace, paths: Paths, console: Console) -> ExitStatus:
    if arguments.collects is None and arguments.keep_days is None:
        raise UsageError(message("Say what is to change: --collects, --no-collects or --keep-days DAYS."))
    async with opened(paths, console) as (program, _):
        found = program.address_book.find(arguments.connection)
        record = next((each for each in program.address_book.saved() if each.id == found), None)
        if record is None:  # the practice service, which is not saved
            record = SavedConnection(found, "", "cloudflare")
        record = await program.connections.save(_as_asked(record, arguments))
    console.say(_collecting_words(record))
    return ExitStatus.DONE


def _as_asked(record: SavedConnection, arguments: argparse.Namespace) -> SavedConnection:
    collects = record.collects if arguments.collects is None else arguments.collects
    days = record.keep_days if arguments.keep_days is None else arguments.keep_days
    if record.kind != "worker" and (arguments.collects is not None or arguments.keep_days is not None):
        raise UsageError(
            message("Only a Worker of your own can collect answers in your account. Name the connection of one.")
        )
    return replace(record, collects=collects, keep_days=days)


def _collecting_words(record: SavedConnection) -> str:
    if not record.collects:
        return tr("“{name}”: the answers are asked for from this computer.").format(name=record.name)
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


async def run_probe(arguments: argparse.Namespace, paths: Paths, console: Console) -> ExitStatus:
    report: Path | None = arguments.report
    check_outputs([report] if report is not None else [], None)
    async with opened(paths, console) as (program, _):
        found = program.address_book.find(arguments.connection)
        plan = program.connections.plan_probe(found, arguments.model or program.settings.model)
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
        if not agreed(console, is_practice or arguments.yes):
            return ExitStatus.FAILED
        result = await program.connections.probe(
            found, plan, show=lambda sentence: console.say(said(sentence)), wait_seconds=arguments.wait
        )
    if report is not None:
        text = probe.json_report(result) if report.suffix.lower() == ".json" else probe.text_report(result)
        write_atomically(report, text.encode())
        console.say(tr("Wrote the report to {path}. Look at it before you send it to anybody."), path=report)
    console.say(said(probe.counts_sentence(result.findings)))
    console.print_result((probe.json_report(result) if arguments.json else probe.text_report(result)).splitlines())
    return status_of(result)


def status_of(result: probe.ProbeResult) -> ExitStatus:
    if any(isinstance(each.error, OutcomeUnknown) for each in result.evidence.calls):
        return ExitStatus.OUTCOME_UNKNOWN
    if not result.is_whole or any(each.outcome is probe.Outcome.NOT_HELD for each in result.findings):
        return ExitStatus.FAILED
    return ExitStatus.DONE
