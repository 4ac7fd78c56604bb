"""A token that the service repeats is written nowhere: data folder, export, log, both streams, in any form."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.workers_ai.transport import REDACTED
from tests.canary import TOKEN
from tests.canary_search import Search
from tests.core.workers_ai.telling import FORMS
from tests.journeys.terminal import Terminal
from tests.support.faulty_service import Threaded
from tests.support.http import Answer, Head, application, ask
from tests.thorough import IS_THOROUGH

PAIRS = "query,context\n" + "".join(f"query {query},context {query} {n}\n" for query in range(6) for n in range(2))


class Echoing:
    """The practice service, which repeats `echo` wherever an answer has room for text."""

    def __init__(self, folder: Path) -> None:
        self._behind = practice_app(folder, seconds_queued=0, seconds_running=0)
        self.echo, self.is_packed = "", False
        self.phases: set[str] = set()

    async def answer(self, head: Head, body: bytes) -> Answer:
        given = json.loads(body or b"{}")
        phase = "submit" if "requests" in given else "poll" if "request_id" in given else "run"
        phase = "check" if head.method == "GET" else phase
        self.phases.add(phase)
        found = await ask(self._behind, head, body)
        content = json.dumps(self._repeating(json.loads(found.body))).encode()
        headers = (("content-type", "application/json"), ("x-seen", self.echo))
        if self.is_packed:
            return Answer(found.status, (*headers, ("content-encoding", "gzip")), gzip.compress(content))
        return Answer(found.status, headers, content)

    def _repeating(self, value: Any) -> Any:
        """Of several elements all but the first have failed, each with its error in another place."""
        if isinstance(value, list):
            return [self._repeating(each) for each in value]
        if not isinstance(value, dict):
            return value
        told = {name: self._repeating(each) for name, each in value.items()}
        if told.get("id", 0) and "external_reference" in told:
            error = {"code": 1, "message": self.echo}
            ways: tuple[dict[str, Any], ...] = (
                *({"error": self.echo}, {"error": error}, {"errors": [error]}, {"message": self.echo}),
                {"result": f"it was {self.echo}"},
            )
            del told["result"]
            told |= {"success": False, **ways[told["id"] % len(ways)]}
        return told | {f"key {self.echo}": self.echo, "pooling": self.echo, "model": self.echo}


def play(folder: Path, address: str, *, at_once: bool) -> list[str]:
    """A test of the connection, a job and its export, and the list of jobs; what was printed."""
    folder.mkdir()
    pairs, out = folder / "pairs.csv", folder / "ranked.csv"
    pairs.write_text(PAIRS)
    terminal = Terminal(folder / "data")
    terminal.connect(address)
    ways = ["--at-once"] if at_once else []
    ended = [
        terminal.run("connections", "test", "cloudflare"),
        terminal.run("run", pairs, "--rank", "--connection", "cloudflare", "--out", out, *ways),
        terminal.run("jobs"),
        terminal.run("jobs", "--json"),
    ]
    return [text for each in ended for text in (each.out, each.err)]


@pytest.mark.thorough
def test_a_token_that_is_repeated_around_results_is_written_nowhere(tmp_path: Path) -> None:
    """Most requests of a job fail, each with the token in its error; the results are there all the same."""
    echoing = Echoing(tmp_path / "service")
    with Threaded(application(echoing.answer)).opened() as service:
        for number, (name, form) in enumerate(list(FORMS.items())[:: 1 if IS_THOROUGH else 3]):
            echoing.echo, echoing.is_packed = form(TOKEN), number % 2 == 0
            folder = tmp_path / str(number)
            printed = play(folder, service.url, at_once=number % 2 == 1)
            search = Search()
            search.folder(folder)
            for text in printed:
                search.text(text, "output")
            assert not search.hits, f"{name}: {search.hits}"
            assert search.files > 5
            assert (folder / "ranked.csv").exists(), printed
            if number % 2 == 0:  # where requests of a batch fail, with what was repeated in their errors
                assert all(REDACTED.encode() in path.read_bytes() for path in folder.rglob("data.db"))
    assert echoing.phases == {"submit", "poll", "run", "check"}
