"""A token that the service repeats is written nowhere: data folder, export, log, both streams, in any form."""

from itertools import cycle
from pathlib import Path

import pytest

from tests.canary import SECRET, TOKEN
from tests.canary_search import Search
from tests.core.workers_ai.telling import FORMS
from tests.journeys.echoing_service import DELIVERIES, SPOILT, Echoes, echoing_service
from tests.journeys.terminal import Terminal
from tests.thorough import IS_THOROUGH

PAIRS = "query,context\n" + "".join(f"query {query},context {query} {n}\n" for query in range(6) for n in range(2))


def searched(folder: Path, *printed: str) -> Search:
    search = Search()
    search.folder(folder)
    for text in printed:
        search.text(text, "output")
    return search


def play(folder: Path, address: str, echoes: Echoes, *, synchronously: bool) -> list[str]:
    """A test of the connection, a job and its export, and the list of jobs; what was printed."""
    folder.mkdir()
    pairs, out = folder / "pairs.csv", folder / "ranked.csv"
    pairs.write_text(PAIRS)
    terminal = Terminal(folder / "data")
    terminal.connect(address)
    ways = ["--at-once"] if synchronously else []
    ended = [
        terminal.run("connections", "test", "cloudflare"),
        terminal.run("run", pairs, "--rank", "--connection", "cloudflare", "--out", out, *ways),
        terminal.run("jobs"),
        terminal.run("jobs", "--json"),
    ]
    return [text for each in ended for text in (each.out, each.err)]


@pytest.mark.thorough
def test_a_token_that_is_repeated_around_results_is_written_nowhere(tmp_path: Path) -> None:
    """In one job it is at more than ten places, and the results are there all the same."""
    places = 0
    deliveries = cycle(DELIVERIES)
    forms = list(FORMS.items()) if IS_THOROUGH else list(FORMS.items())[::3]
    with echoing_service() as (service, address):
        for number, (name, form) in enumerate(forms):
            service.echoes = Echoes(form(TOKEN), delivery=next(deliveries))
            folder = tmp_path / str(number)
            printed = play(folder, address, service.echoes, synchronously=number % 2 == 1)
            search = searched(folder, *printed)
            assert not search.hits, f"{name}: {search.hits}"
            assert search.files > 5
            assert (folder / "ranked.csv").exists(), printed
            places += service.echoes.places
    assert places >= 10 * len(forms)
    assert set(service.phases) == {"check", "submit", "poll", "run"}


@pytest.mark.thorough
def test_a_token_in_an_answer_that_cannot_be_used_is_written_nowhere(tmp_path: Path) -> None:
    spots = [(phase, place) for phase, places in SPOILT.items() for place in places]
    forms = cycle(FORMS.items())
    with echoing_service() as (service, address):
        for number, (phase, place) in enumerate(spots if IS_THOROUGH else spots[::4]):
            name, form = next(forms)
            service.echoes = Echoes(form(TOKEN), phase, place, DELIVERIES[number % 3])
            folder = tmp_path / str(number)
            printed = play(folder, address, service.echoes, synchronously=phase == "run")
            search = searched(folder, *printed)
            assert not search.hits, f"{phase}, {place}, {name}: {search.hits}"
            assert phase in service.phases
            service.phases.clear()


def test_the_search_would_find_it(tmp_path: Path) -> None:
    """The same echo of a secret that was not sent stays, so the tests above look in the right places."""
    with echoing_service() as (service, address):
        service.echoes = Echoes("another secret of somebody's")
        play(tmp_path / "job", address, service.echoes, synchronously=False)
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and b"somebody's" in path.read_bytes()]
    assert {path.name for path in kept} >= {"data.db"}
    assert SECRET not in service.echoes.echo
