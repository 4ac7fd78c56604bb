"""In the terminal: connections are listed, added with their secrets, tested, used and removed."""

import asyncio
import re
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cfbatch_gui.core.jobs.states import BatchState
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.words.states import state_words
from tests.canary import SECRET, TOKEN
from tests.core.endpoints.conftest import ACCOUNT, GATEWAY, Endpoints, opened, service
from tests.journeys.terminal import Ended, Terminal
from tests.support.practice import PracticeServer


@pytest.fixture
def endpoints(tmp_path: Path) -> Iterator[Endpoints]:
    """All endpoints, served by a thread of their own: commands run their own loop in this one."""
    with asyncio.Runner() as runner, ThreadPoolExecutor(1) as thread:
        opening = opened(service(tmp_path / "service"))
        endpoints = thread.submit(runner.run, opening.__aenter__()).result()
        serving = thread.submit(runner.get_loop().run_forever)
        try:
            yield endpoints
        finally:
            runner.get_loop().call_soon_threadsafe(runner.get_loop().stop)
            serving.result()
            thread.submit(runner.run, opening.__aexit__(None, None, None)).result()


def run(terminal: Terminal, *arguments: object, given: str = "") -> Ended:
    return terminal.run("connections", *arguments, given=given)


def test_a_worker_from_the_first_word_to_the_last(terminal: Terminal, endpoints: Endpoints, tmp_path: Path) -> None:
    added = run(terminal, "add", "worker", "--url", endpoints.worker_url, "--name", "Berlin", "--use", given=SECRET)
    assert added.status == 0, added.err
    assert [line.endswith(": Yes.") for line in added.out.splitlines()] == [True] * 4
    berlin = terminal.connections()["Berlin"]
    assert berlin["kind"] == "worker" and berlin["ready"] and berlin["for_new_jobs"]
    # There is no keyring here, and the sentence about it says which variable to set.
    variable = f"CFBATCH_SECRET_{berlin['id'].upper()}"
    assert variable in added.err
    refused = run(terminal, "test", "Berlin", "--json")
    assert refused.status == 4 and [each["ok"] for each in refused.json["test"]][:2] == [True, False]
    terminal.environ[variable] = SECRET
    tested = run(terminal, "test", "Berlin", "--json")
    assert tested.status == 0 and [each["ok"] for each in tested.json["test"]] == [True] * 4
    texts = tmp_path / "texts.txt"
    texts.write_text("an orange cloud\na llama\n")
    ended = terminal.run_apart("run", texts, "--embed", "--json")
    assert ended.status == 0 and ended.json["connection"] == berlin["id"]
    assert (run(terminal, "remove", "Berlin")).status == 0
    assert (run(terminal, "test", "Berlin")).status == 2
    assert len(endpoints.worker.submits) == 1


def test_accounts_and_gateways_out_of_whatever_was_copied(terminal: Terminal, endpoints: Endpoints) -> None:
    url = f"{endpoints.rest.url}/accounts/{ACCOUNT}/ai/run/@cf/baai/bge-m3"
    curl = f'curl {url} --header "Authorization: Bearer {TOKEN}"'
    copied = run(terminal, "add", "cloudflare", "--json", given=curl)
    assert copied.status == 0 and copied.json["name"] == "Cloudflare 2"
    terminal.environ["CLOUDFLARE_API_BASE_URL"] = endpoints.rest.url
    terminal.environ["MINE"] = TOKEN
    first = run(terminal, "add", "cloudflare", "--account", ACCOUNT, "--secret-from", "MINE", "--name", "First")
    assert first.status == 0, first.out
    terminal.environ["CLOUDFLARE_API_BASE_URL"] = endpoints.gateway.url
    through = ("--gateway", GATEWAY, "--by-header", "--account", ACCOUNT)
    ended = run(terminal, "add", "gateway", *through, "--json", given=TOKEN)
    assert ended.status == 0 and ended.json["test"][-1]["ok"] is None
    assert [*terminal.connections()] == ["Practice service", "Cloudflare", "Cloudflare 2", "First", "AI Gateway"]


@pytest.mark.parametrize(
    ("arguments", "given", "status", "code"),
    [
        (("cloudflare", "--account", ACCOUNT), "", 4, "there_is_no_api_token_yet"),
        (("cloudflare", "--account", ACCOUNT), "cfk_0123456789abcdefghijklmnop", 4, "is_global_api_key_may_do"),
        (("cloudflare",), TOKEN, 2, "sentence_option"),
        (("cloudflare", "--account", "123"), TOKEN, 4, "is_not_account_id_32_characters"),
        (("worker",), SECRET, 2, "sentence_option"),
        (("worker", "--url", "http://batch.example"), SECRET, 4, "text_is_not_safe_over_http"),
        (("gateway", "--account", ACCOUNT), TOKEN, 2, "sentence_option"),
        (
            ("worker", "--url", "https://b.example", "--secret-from", "NOWHERE"),
            "",
            2,
            "environment_variable_name_is_not_set",
        ),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_kept(
    terminal: Terminal, arguments: tuple[str, ...], given: str, status: int, code: str
) -> None:
    ended = terminal.run("connections", "add", *arguments, "--no-test", given=given)
    assert ended.status == status and code in ended.codes
    assert Settings.load(Paths(terminal.data).settings).connections == ()


def test_jobs_that_are_under_way_are_not_left_by_accident(terminal: Terminal, tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("an orange cloud\na llama\n")
    with PracticeServer(tmp_path / "service", seconds_queued=600) as server:
        terminal.connect(server.url)
        added = terminal.run("connections", "add", "cloudflare", "--account", ACCOUNT, "--name", "Own", given=TOKEN)
        own = re.search(r"CFBATCH_SECRET_\w+", added.err)
        assert own is not None
        terminal.environ[own[0]] = TOKEN
        terminal.run_until(
            state_words(BatchState.QUEUED).text, signal.SIGINT, "run", texts, "--embed", "--connection", "Own"
        )
        refused = terminal.run("connections", "remove", "Own")
        assert refused.status == 2 and terminal.jobs()[0]["job"] in refused.complaint
        assert terminal.run("connections", "remove", "Own", "--force").status == 0
    removed = terminal.run("connections", "remove", "practice")
    assert (removed.status, removed.codes) == (2, {"practice_service_is_always_there"})


@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminals")
def test_the_prompt_shows_nothing_of_what_is_typed(terminal: Terminal, endpoints: Endpoints) -> None:
    add = ("connections", "add", "worker", "--url", endpoints.worker_url, "--name", "Typed")
    status, said = terminal.run_asked(f"{SECRET}\n", *add)
    assert status == 0 and SECRET not in said, said
