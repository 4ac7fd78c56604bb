"""`cfbatch practice serve`: the practice service on a port of this computer."""

import os
from contextlib import suppress

from cfbatch_gui.cli.console import Call
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.system import processes
from cfbatch_gui.words.figures import number, told
from cfbatch_gui.words.languages import tr

TOKEN_VARIABLE = processes.OF_PRACTICE
_ACCOUNT = "0" * 32
_PORT, _SECONDS = 8787, 5.0


def add_arguments(parser: Parser) -> None:
    command = parser.add_action("serve", tr("serve the practice service on this computer"), run)
    command.description = told("serve_practice_service_on_127_0", variable=TOKEN_VARIABLE)
    command.add_options(
        """
        --port PORT  0 takes any free one (default: {port})
        --seconds-queued SECONDS  how long a batch is queued (default: {n})
        --seconds-running SECONDS  how long it then runs (default: {n})
        """,
        port=_PORT,
        n=number(_SECONDS, "g"),
    )
    command.set_defaults(port=_PORT, seconds_queued=_SECONDS, seconds_running=_SECONDS)


def run(call: Call) -> None:
    """Serve until Ctrl+C. The queue survives restarts."""
    token = os.environ.get(TOKEN_VARIABLE, "")
    app = practice_app(
        call.paths.practice,
        seconds_queued=call.seconds_queued,
        seconds_running=call.seconds_running,
        token=token,
    )
    from cfbatch_gui.core.practice.server import serve  # imports uvicorn: slow

    def announce(url: str) -> None:
        bearer = f"${TOKEN_VARIABLE}" if token else "practice"
        call.console.tell("practice_service_listens_on_url_ctrl", url=url)
        call.console.say(f"""
curl "{url}/accounts/{_ACCOUNT}/ai/run/@cf/baai/bge-m3?queueRequest=true" \\
 --header "Authorization: Bearer {bearer}" --header "Content-Type: application/json" \\
 --data '{{"requests": [{{"query": "This is a story about Cloudflare", "contexts": [\
{{"text": "This is a story about an orange cloud"}}, {{"text": "This is a story about a llama"}}]}}]}}'
""")

    with suppress(KeyboardInterrupt):
        serve(app, call.port, listening=announce)
    call.console.tell("stopped_word")
