"""`cfbatch practice serve`: serve the practice service on a port of this computer, for any client."""

import argparse
import os
import ssl
import sys
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import get_args

from cfbatch_gui.cli.exit_status import ExitStatus, status_of_error
from cfbatch_gui.cli.language import number, tr
from cfbatch_gui.cli.parser import Parser, RawHelpFormatter
from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.practice.app import Application, practice_app
from cfbatch_gui.core.practice.faults.faulty_service import Arrival
from cfbatch_gui.core.practice.faults.mutations import Mutation
from cfbatch_gui.core.practice.faults.script import describe_faults, load_script
from cfbatch_gui.core.system import processes
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.paths import Paths

TOKEN_VARIABLE = processes.OF_PRACTICE
_ACCOUNT = "0" * 32
_PORT, _SECONDS = 8787, 5.0
_EXAMPLE = """\
  {"faults": [
    {"on": "submit", "do": "reset_after_body", "billed": true},
    {"on": "poll", "number": 3, "times": 2, "do": "page", "status": 502}
  ]}"""
_KEYS = {
    "on": message(
        '"submit", "poll", of Vectorize "upload", "mutate", "progress", "lookup" and "query", "check" (all other calls)'
        ' or "any" (default)'
    ),
    "number": message("the first exchange of that kind to hit, from 1 (default 1)"),
    "times": message("how many in a row (default 1); 0 is every one from then on"),
    "sha256": message("only the batch whose body has this hash; not for faults that come before the body"),
    "do": message("what goes wrong, with keys of its own:"),
}
_MUTATIONS = textwrap.fill(", ".join(get_args(Mutation)), 96, initial_indent="  ", subsequent_indent="  ")


def add_arguments(parser: Parser, *, parents: Sequence[Parser]) -> None:
    """Add `serve` and its options to `cfbatch practice`; `parents` hold the options of all commands."""
    commands = parser.add_subparsers(dest="practice_command", metavar=tr("COMMAND"), required=True)
    command = commands.add_parser(
        "serve",
        parents=list(parents),
        formatter_class=RawHelpFormatter,
        help=tr("serve the practice service on this computer"),
        description=tr(
            "Serve the practice service on 127.0.0.1 until Ctrl+C. It speaks Cloudflare's Batch API; nothing\n"
            "leaves this computer and nothing is paid. Any bearer token is taken, unless\n{variable} names one."
        ).format(variable=TOKEN_VARIABLE),
        epilog=_faults_help(),
    )
    command.add_argument(
        "--port",
        type=_port,
        metavar=tr("PORT"),
        default=_PORT,
        help=tr("0 takes any free one (default: {n})").format(n=_PORT),
    )
    command.add_argument(
        "--seconds-queued",
        type=_seconds,
        default=_SECONDS,
        metavar="S",
        help=tr("how long a batch is queued (default: {n})").format(n=number(_SECONDS, "g")),
    )
    command.add_argument(
        "--seconds-running",
        type=_seconds,
        default=_SECONDS,
        metavar="S",
        help=tr("how long it then runs (default: {n})").format(n=number(_SECONDS, "g")),
    )
    command.add_argument("--faults", type=Path, metavar=tr("FILE"), help=tr("misbehave by this script; see below"))
    command.add_argument(
        "--certificate",
        type=Path,
        metavar="PEM",
        help=tr("with --faults: speak TLS with the certificate and key in this file"),
    )


def _faults_help() -> str:
    return "\n".join(
        [
            tr(
                "--faults FILE puts a door in front of the service that misbehaves, to see how a program takes it."
                " FILE is JSON:"
            ),
            "",
            _EXAMPLE,
            "",
            *(f"{key:<8} {said(words)}" for key, words in _KEYS.items()),
            "",
            describe_faults(),
            "",
            tr(
                '"billed" true: the service does the work, and its answer is what goes astray; false: it never hears of'
                " the request."
            ),
            tr('"rst" true: a connection ends in a TCP reset; false: in good order.'),
            tr('"how" of "mutate" is one of'),
            _MUTATIONS,
        ]
    )


def run(arguments: argparse.Namespace, data_dir: Path) -> int:
    """Serve until Ctrl+C and return the exit status. The queue is in the data folder and survives restarts."""
    token = os.environ.get(TOKEN_VARIABLE, "")
    app = practice_app(
        Paths(data_dir).practice,
        seconds_queued=arguments.seconds_queued,
        seconds_running=arguments.seconds_running,
        seconds_mutating=arguments.seconds_running,
        token=token,
    )
    try:
        with suppress(KeyboardInterrupt):
            _serve(app, arguments, own_token=bool(token))
    except UserError as problem:
        print(said(problem.message), file=sys.stderr)  # noqa: T201
        return status_of_error(problem)
    print(tr("Stopped."), file=sys.stderr)  # noqa: T201
    return ExitStatus.DONE


def _serve(app: Application, arguments: argparse.Namespace, *, own_token: bool) -> None:
    from cfbatch_gui.core.practice.server import load_certificate, serve, serve_with_faults  # imports uvicorn: slow

    def listening(url: str) -> None:
        _announce(url, own_token=own_token)

    if arguments.certificate is not None and arguments.faults is None:
        raise UsageError(message("--certificate goes with --faults."))
    if arguments.faults is None:
        serve(app, arguments.port, listening=listening)
        return
    faults = load_script(arguments.faults)
    tls: ssl.SSLContext | None = None
    if arguments.certificate is not None:
        tls = load_certificate(arguments.certificate)
    serve_with_faults(app, faults, arguments.port, tls=tls, listening=listening, tell=_tell)


def _tell(arrival: Arrival) -> None:
    if arrival.is_asked:
        template = tr("{kind}, {received} of {size} bytes, answered {status}, {fault}")
    else:
        template = tr("{kind}, {received} of {size} bytes, not passed on, {fault}")
    line = template.format(
        kind=arrival.kind,
        received=number(arrival.received),
        size=number(arrival.size),
        status=arrival.status,
        fault=arrival.fault or tr("no fault"),
    )
    print(line, file=sys.stderr, flush=True)  # noqa: T201


def _announce(url: str, *, own_token: bool) -> None:
    bearer = f"${TOKEN_VARIABLE}" if own_token else "practice"
    lines = (
        tr("The practice service listens on {url} (Ctrl+C ends it). Try it:").format(url=url),
        "",
        f'curl "{url}/accounts/{_ACCOUNT}/ai/run/@cf/baai/bge-m3?queueRequest=true" \\',
        f' --header "Authorization: Bearer {bearer}" --header "Content-Type: application/json" \\',
        """ --data '{"requests": [{"query": "This is a story about Cloudflare", "contexts": ["""
        """{"text": "This is a story about an orange cloud"}, {"text": "This is a story about a llama"}]}]}'""",
        "",
    )
    print("\n".join(lines), file=sys.stderr, flush=True)  # noqa: T201


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65_535):
        sentence = tr("“{text}” is not a port; it must be a number from 0 to 65535").format(text=text)
        raise argparse.ArgumentTypeError(sentence)
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:
        sentence = tr("“{text}” is not a time; it must be seconds from 0 to 86400").format(text=text)
        raise argparse.ArgumentTypeError(sentence)
    return seconds
