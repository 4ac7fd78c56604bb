"""In the terminal: the Worker is set up in an account and taken away, with a token that is used once."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.account_service import ACCOUNT, SCRIPTS, AccountService
from tests.canary import OTHER_TOKEN, SECRET, TOKEN
from tests.journeys.terminal import Ended, Terminal
from tests.support.faulty_service import Threaded


@pytest.fixture
def account() -> AccountService:
    return AccountService()


@pytest.fixture
def url(account: AccountService) -> Iterator[str]:
    with Threaded(account).opened() as service:
        yield service.url


@pytest.fixture
def terminal(tmp_path: Path, url: str) -> Terminal:
    return Terminal(tmp_path / "data", {"CLOUDFLARE_API_BASE_URL": url, "OURS": SECRET})


def run(terminal: Terminal, *arguments: object, given: str = TOKEN) -> Ended:
    return terminal.run("connections", *arguments, given=given)


SET_UP = ("set-up", "--account", ACCOUNT, "--yes", "--secret-from", "OURS")  # there is no keyring here


def test_from_the_list_of_calls_to_an_empty_account(terminal: Terminal, account: AccountService) -> None:
    listed = run(terminal, "set-up", "--account", ACCOUNT, "--dry-run", given="")
    assert listed.status == 0 and account.calls == []
    assert f"PUT /accounts/{ACCOUNT}/workers/scripts/cf-batch-door  needs Workers Scripts Write" in listed.out

    done = run(terminal, *SET_UP, "--paid-plan", "--use")
    assert done.status == 0, done.err
    assert " 6. " in done.err and "anna.workers.dev" in done.err
    assert account.secret() == SECRET
    assert listed.out.strip() in done.err, "the same list, before anything is sent"
    connection = terminal.connections()["My Worker"]
    assert connection["kind"] == "worker" and connection["for_new_jobs"]
    assert f"CFBATCH_SECRET_{connection['id'].upper()}" in done.err, "there is no keyring here"

    account.store("answers/a-job/1/1", "orders/a-job/1")
    taken = run(terminal, "take-down", "My Worker", "--account", ACCOUNT, "--yes", "--forget", "--json")
    assert taken.status == 0, taken.err
    assert taken.json == {"worker": True, "workflow": True, "bucket": True, "objects": 2}
    assert account.state == ({}, {}, {})
    assert "My Worker" not in run(terminal, "list").out


def test_on_a_terminal_it_asks_before_it_asks_for_the_token(terminal: Terminal, account: AccountService) -> None:
    set_up = ("connections", *(each for each in SET_UP if each != "--yes"))
    _, refused = terminal.run_asked("n\n", *set_up)
    assert "token:" not in refused and account.calls == []
    _, done = terminal.run_asked(f"y\n{TOKEN}\n", *set_up)
    assert done.index("workers/subdomain") < done.index("Go on?") < done.index("token: ")
    assert "cf-batch-door" in account.scripts


def test_without_a_terminal_it_wants_a_yes(terminal: Terminal, account: AccountService) -> None:
    ended = run(terminal, *(each for each in SET_UP if each != "--yes"))
    assert (ended.status, ended.codes) == (2, {"nothing_was_sent_agree_yes"})
    assert account.calls == []


def test_the_token_is_found_in_what_was_copied_or_in_a_variable(terminal: Terminal, account: AccountService) -> None:
    assert run(terminal, *SET_UP, given=f'curl -H "Authorization: Bearer {TOKEN}"').status == 0
    terminal.environ["ONCE"] = TOKEN
    assert run(terminal, *SET_UP, "--token-from", "ONCE", given="").status == 0
    assert run(terminal, *SET_UP, given="").status == 4
    assert run(terminal, *SET_UP, "--token-from", "NOTHING").status == 2
    assert account.changes.count("PUT /accounts/{account}/workers/scripts/cf-batch-door") == 2


def test_without_a_keyring_no_secret_is_made_that_would_be_lost(terminal: Terminal, account: AccountService) -> None:
    lost = run(terminal, "set-up", "--account", ACCOUNT, "--yes")
    assert lost.status == 2 and "--secret-from" in lost.err and account.changes == []
    assert run(terminal, *SET_UP).status == 0
    terminal.environ[f"CFBATCH_SECRET_{terminal.connections()['My Worker']['id'].upper()}"] = SECRET
    again = run(terminal, "set-up", "--account", ACCOUNT, "--yes")
    assert again.status == 0, again.err
    assert account.secret() == SECRET


def test_what_goes_wrong_has_its_status_and_the_way_on(terminal: Terminal, account: AccountService) -> None:
    account.foreign()
    taken = run(terminal, *SET_UP)
    assert taken.status == 1 and "--worker cf-batch-door-2" in taken.err and account.changes == []
    assert run(terminal, "take-down", "--account", ACCOUNT, "--yes", "--worker", "cf-batch-door").status == 1
    account.permissions = frozenset((SCRIPTS,))
    lacking = run(terminal, *SET_UP, "--worker", "mine")
    assert lacking.status == 4 and "Workers R2 Storage Write" in lacking.complaint and "HTTP 403" in lacking.err
    assert run(terminal, *SET_UP, given=OTHER_TOKEN).status == 4
    assert run(terminal, *SET_UP, "--worker", "No Name").status == 2
    assert run(terminal, *SET_UP, "--account", "nobody").status == 4
    assert account.changes == []
    account.permissions = AccountService().permissions
    replaced = run(terminal, *SET_UP, "--replace", "--name", "Berlin", "--json")
    assert replaced.status == 0 and replaced.json["name"] == "Berlin" and replaced.json["added"]


def test_taking_down_names_what_it_is_about(terminal: Terminal, account: AccountService) -> None:
    take_down = ("take-down", "--account", ACCOUNT, "--yes")
    assert run(terminal, *take_down).status == 2
    assert run(terminal, *take_down, "nobody").status == 2
    assert run(terminal, *take_down, "--worker", "cf-batch-door", "--forget").status == 2
    run(terminal, "add", "worker", "--url", "https://door.example.com", "--name", "Own", "--no-test", given="a-secret")
    assert run(terminal, *take_down, "Own").status == 2
    assert account.calls == []
    assert run(terminal, *SET_UP).status == 0
    account.store("answers/a-job/1/1")
    kept = run(terminal, *take_down, "--worker", "cf-batch-door", "--keep-answers")
    assert kept.status == 0, kept.err
    assert account.buckets == {"cf-batch-answers": {"answers/a-job/1/1": b"{}"}} and account.scripts == {}
    printed = run(terminal, *take_down, "--worker", "cf-batch-door", "--dry-run", "--json", given="").json
    assert json.dumps(printed).count('"DELETE"') == 4
