"""The Worker is put into an account: whole, twice, cut at any call, and beside what others have there."""

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from keyring.errors import KeyringLocked

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import DataError, KeyringUnavailable, NotConnected, ServiceRefused, TokenRefused
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.worker_setup import (
    NotOurs,
    State,
    Step,
    Stopped,
    TakenDown,
    WorkerSetup,
    names_of,
    removing_calls,
    setting_up_calls,
)
from cfbatch_gui.core.workers_ai.api_tokens import Token
from tests.account_service import ACCOUNT, SCRIPTS, STORAGE, Refused
from tests.canary import CORE, OTHER_TOKEN, SECRET, TOKEN
from tests.canary_search import Search
from tests.core.worker_setup.conftest import MODULES, URL, Bench, metadata
from tests.core.workers_ai.telling import everything_told, holds_token
from tests.support import faults
from tests.support.faults import Fault
from tests.support.keyrings import MemoryKeyring
from tests.support.sentences import code_of, codes_of, refuses

NOT_CHANGED, NOT_TAKEN = "reason_nothing_was_changed_account", "reason_nothing_was_taken_away"
NO_PERMISSION = "service_does_not_let_token_make"
CALLS = setting_up_calls(names_of(), "{account}")
CHANGES = [call.words for call in CALLS if call.method != "GET"]
REMOVALS = removing_calls(names_of(), "{account}", keep_bucket=False)
STORED = (
    "orders/a-job/1",
    "layouts/a-job/1",
    *(f"answers/a-job/1/{number}" for number in range(1, 6)),
    "answers/a-job/1/2.refusal",
    "answers/a-job/1/ended",
)
# Listing is three prefixes with a page and an empty one each, and a second page of answers.
MADE = (len(REMOVALS) - 2) + 3 * 2 + 2 + len(STORED)


def end_state() -> tuple[object, ...]:
    scripts = {"cf-batch-door": (metadata("…"), MODULES, True)}
    workflows = {"cf-batch-collect": {"script_name": "cf-batch-door", "class_name": "Collect"}}
    return scripts, workflows, {"cf-batch-answers": {}}


async def test_everything_is_put_there_and_the_connection_leads_to_it(bench: Bench) -> None:
    done = await bench.set_up(paid_plan=True)

    assert bench.account.state == end_state()
    assert [f"{method} {path}" for method, path in bench.account.calls] == [call.words for call in CALLS]
    assert done.is_new and not done.has_other_secret
    assert bench.saved == [done.connection]
    assert (done.connection.name, done.connection.url, done.connection.paid_plan) == ("My Worker", URL, True)
    secret = bench.account.secret()
    assert len(secret) == 43 and bench.keyring.stored == {("CF Batch", done.connection.id): secret}
    assert set(bench.states().values()) == {State.DONE}
    assert bench.waits == []


async def test_twice_is_as_once(bench: Bench) -> None:
    first = await bench.set_up()
    secret, before = bench.account.secret(), bench.account.state
    bench.account.calls.clear()
    second = await bench.set_up()
    assert bench.account.changes == [each for each in CHANGES if not each.endswith("/r2/buckets")]
    assert bench.account.state == before and bench.account.secret() == secret
    assert second.connection == first.connection and not second.is_new and not second.has_other_secret
    assert bench.saved == [first.connection]
    assert bench.states()[Step.MAKE_BUCKET] is State.NOT_NEEDED


@pytest.mark.parametrize("is_answer_lost", [True, False], ids=["after it", "before it"])
@pytest.mark.parametrize(
    ("removes", "number"),
    [*((False, number) for number in range(1, len(CALLS) + 1)), *((True, number) for number in (1, 4, 5, 6, 9, MADE))],
)
async def test_cut_at_any_call_and_done_again_it_ends_the_same(
    bench: Bench, removes: bool, number: int, is_answer_lost: bool
) -> None:
    """Nobody answers from this call on; with `is_answer_lost` what is asked for is done all the same."""
    work: Callable[[], Awaitable[object]] = bench.set_up
    if removes:
        await bench.set_up()
        bench.account.store(*STORED)
        work = bench.take_down
    cut = faults.reset_after_body(on="any", number=number, times=0, billed=True)
    bench.faulty.follow(cut if is_answer_lost else faults.reset_after_headers(on="any", number=number, times=0))
    with pytest.raises(Stopped) as caught:
        await work()
    bench.faulty.follow()
    assert bench.waits == [1.0, 2.0, 4.0]
    begun = "reason_was_begun_take_away_again" if removes else "reason_was_begun_set_up_again"
    assert code_of(caught.value) in (begun, NOT_TAKEN if removes else NOT_CHANGED)
    assert removes or (code_of(caught.value) == begun) is any(call.method != "GET" for call in CALLS[:number])
    await work()
    if removes:
        assert bench.account.state == ({}, {}, {})
        return
    (saved,) = bench.saved
    assert bench.account.state == end_state()
    assert bench.keyring.stored == {("CF Batch", saved.id): bench.account.secret()}


async def test_a_fault_that_passes_is_waited_out(bench: Bench) -> None:
    """As a bucket that Workers does not see yet, and Workflows' own faults."""
    bench.account.refuse_first["PUT workers/scripts/cf-batch-door"] = [Refused(400, 10085, "R2 bucket not found")]
    bench.account.refuse_first["PUT workflows/cf-batch-collect"] = [Refused(500, 10001, "internal_server")] * 3
    await bench.set_up()
    assert bench.account.state == end_state()
    assert bench.waits == [2.0, 1.0, 2.0, 4.0]
    waiting = [note for _, state, note in bench.shown if state is State.WAITING]
    assert codes_of(waiting[0]) == {"reason_is_tried_again_n_s", "service_does_not_see_new_bucket"}
    assert codes_of(waiting[1]) == {"reason_is_tried_again_n_s", "service_fault_own_just_now"}


async def test_a_worker_whose_secret_is_not_known_here_gets_another_and_it_is_said(bench: Bench) -> None:
    first = await bench.set_up()
    secret = bench.account.secret()
    await bench.program.connections.remove(first.connection.id)
    second = await bench.set_up()
    assert second.is_new and second.has_other_secret
    assert bench.account.secret() != secret
    assert bench.keyring.stored == {("CF Batch", second.connection.id): bench.account.secret()}


async def test_a_locked_keyring_stops_it_before_anything_is_changed(bench: Bench) -> None:
    class Locked(MemoryKeyring):
        def get_password(self, service: str, username: str) -> str | None:
            raise KeyringLocked

    program = bench.program
    await program.connections.save(SavedConnection("", "Berlin", "worker", url=URL), secret=SECRET)
    program.address_book.credentials = Credentials(Locked(), {})
    setup = WorkerSetup(program.connections)
    with refuses(Stopped, NOT_CHANGED) as caught:
        await setup.set_up(ACCOUNT, Token(TOKEN), names_of(), title="My Worker", paid_plan=False)
    assert isinstance(caught.value.reason, KeyringUnavailable)
    assert bench.account.changes == []


async def test_a_connection_that_cannot_be_saved_is_said_and_done_again(bench: Bench) -> None:
    settings = bench.program.paths.settings
    settings.unlink(missing_ok=True)
    settings.mkdir()
    with refuses(Stopped, "worker_is_set_up_but_connection") as caught:
        await bench.set_up()
    assert isinstance(caught.value.reason, DataError)
    settings.rmdir()
    done = await bench.set_up()
    assert bench.saved == [done.connection]
    assert bench.keyring.stored["CF Batch", done.connection.id] == bench.account.secret()


async def test_a_workflow_of_another_worker_stays_unless_the_user_says_otherwise(bench: Bench) -> None:
    theirs = {"script_name": "theirs", "class_name": "Theirs"}
    bench.account.workflows["cf-batch-collect"] = dict(theirs)
    with pytest.raises(Stopped) as caught:
        await bench.set_up()
    assert isinstance(caught.value.reason, NotOurs) and bench.account.changes == []
    assert "there_is_workflow_name_account_worker" in codes_of(caught.value)
    assert not (await bench.take_down()).workflow and bench.states()[Step.DELETE_WORKFLOW] is State.NOT_NEEDED
    assert bench.account.workflows["cf-batch-collect"] == theirs
    await bench.set_up(may_replace=True)
    assert bench.account.workflows["cf-batch-collect"]["script_name"] == "cf-batch-door"


async def test_models_that_the_user_has_limited_the_worker_to_stay(bench: Bench) -> None:
    await bench.set_up()
    limited = {"type": "plain_text", "name": "ALLOWED_MODELS", "text": "@cf/baai/bge-m3"}
    bench.account.scripts["cf-batch-door"].metadata["bindings"].append(limited)
    await bench.set_up()
    assert bench.account.scripts["cf-batch-door"].binding("plain_text") == limited


NOT_ROUTED = {"GET workers/scripts/cf-batch-door/settings": [Refused(404, 7003, "Could not route")]}


@pytest.mark.parametrize(
    ("account", "reason", "code", "permission"),
    [
        ({"permissions": {STORAGE}}, TokenRefused, NO_PERMISSION, SCRIPTS),
        ({"permissions": {SCRIPTS}}, TokenRefused, NO_PERMISSION, STORAGE),
        ({"permissions": ()}, TokenRefused, NO_PERMISSION, SCRIPTS),
        ({"tokens": (OTHER_TOKEN,)}, TokenRefused, NO_PERMISSION, SCRIPTS),
        ({"r2_active": False}, ServiceRefused, "r2_is_not_activated_account_open", ""),
        ({"subdomain": ""}, ServiceRefused, "account_no_address_workers_dev_yet", ""),
        ({"subdomain": "anna.evil.example/"}, ServiceRefused, "account_no_address_workers_dev_yet", ""),
        ({"refuse_first": NOT_ROUTED}, ServiceRefused, "service_does_not_know_account_check", ""),
    ],
)
async def test_what_stands_against_it_is_named_before_anything_is_changed(
    bench: Bench, account: dict[str, Any], reason: type[Exception], code: str, permission: str
) -> None:
    for name, value in account.items():
        setattr(bench.account, name, value)
    with refuses(Stopped, NOT_CHANGED) as caught:
        await bench.set_up()
    assert isinstance(caught.value.reason, reason) and bench.account.changes == []
    assert code_of(caught.value.reason) == code and permission in str(caught.value.reason)


async def test_a_bucket_that_came_meanwhile_is_used(bench: Bench) -> None:
    bench.account.refuse_first["GET r2/buckets/cf-batch-answers"] = [Refused(404, 10006, "does not exist")]
    bench.account.buckets["cf-batch-answers"] = {}
    await bench.set_up()
    assert bench.states()[Step.MAKE_BUCKET] is State.DONE
    assert bench.account.state == end_state()


async def test_an_account_id_that_cannot_be_one_reaches_no_network(bench: Bench) -> None:
    with refuses(NotConnected, "is_not_account_id_32_characters"):
        await bench.setup.set_up("no account", Token(TOKEN), names_of(), title="x", paid_plan=False)
    assert bench.account.calls == []


@pytest.fixture
async def standing(bench: Bench) -> Bench:
    await bench.set_up()
    bench.account.store(*STORED)
    bench.account.calls.clear()
    bench.shown.clear()
    return bench


async def test_all_of_it_goes_and_the_connection_stays(standing: Bench) -> None:
    taken = await standing.take_down()
    assert taken == TakenDown("cf-batch-door", worker=True, workflow=True, bucket=True, answers=len(STORED))
    assert standing.account.state == ({}, {}, {})
    assert len(standing.saved) == 1
    assert set(standing.states().values()) == {State.DONE}
    planned = {call.words for call in REMOVALS}
    made = {f"{method} {path}" for method, path in standing.account.calls}
    key = "/accounts/{account}/r2/buckets/cf-batch-answers/objects/"
    assert {f"DELETE {key}{{key}}" if each.startswith(f"DELETE {key}") else each for each in made} <= planned
    changes = [each.rpartition("{account}/")[2] for each in standing.account.changes]
    assert changes[:2] == ["workers/scripts/cf-batch-door", "workflows/cf-batch-collect"]
    assert changes[-1] == "r2/buckets/cf-batch-answers"
    assert {each.removeprefix("r2/buckets/cf-batch-answers/objects/") for each in changes[2:-1]} == set(STORED)


@pytest.mark.parametrize(
    "key",
    [
        "holiday.jpg",
        "answers/",
        "answers/../../../workers/scripts/theirs",
        "answers/a-job/1/1?x=1",
        "answers/a-job/1/ü",
    ],
)
async def test_what_is_not_this_programs_keeps_the_bucket(standing: Bench, key: str) -> None:
    standing.account.store(key)
    with pytest.raises(Stopped) as caught:
        await standing.take_down()
    assert isinstance(caught.value.reason, ServiceRefused)
    assert code_of(caught.value.reason) == "bucket_was_kept_r2_deletes_only"
    assert standing.account.buckets == {"cf-batch-answers": {key: b"{}"}}
    assert standing.account.scripts == {}


async def test_a_missing_permission_is_named_before_anything_is_taken_away(standing: Bench) -> None:
    standing.account.permissions = frozenset((SCRIPTS,))
    with refuses(Stopped, NOT_TAKEN) as caught:
        await standing.take_down()
    assert isinstance(caught.value.reason, TokenRefused) and STORAGE in str(caught.value.reason)
    assert Step.READ_BUCKET in standing.states() and standing.account.changes == []


@pytest.fixture
async def known(bench: Bench, caplog: pytest.LogCaptureFixture) -> Bench:
    """A Worker whose secret is one that the search knows; everything that any library logs is kept."""
    for name in ("", "httpcore", "httpx", "asyncio"):
        caplog.set_level(logging.DEBUG, name)
    await bench.program.connections.save(SavedConnection("", "Berlin", "worker", url=URL), secret=SECRET)
    return bench


def is_silent(bench: Bench, error: BaseException, caplog: pytest.LogCaptureFixture) -> bool:
    told = everything_told(error)
    logged = "\n".join(f"{each.getMessage()} {each.args} {each.exc_text}" for each in caplog.records)
    search = Search()
    search.folder(bench.program.paths.root)
    shown = "\n".join(repr(each) for each in bench.shown)
    return not search.hits and not holds_token(f"{told}\n{logged}\n{shown}\n{bench.setup!r}")


@pytest.mark.parametrize(
    "wrong",
    [
        faults.reset_after_body(on="any", number=6, times=0),
        faults.reset_in_body(on="any", number=6, times=0, byte=400),
        faults.cut_reply(on="any", number=6, times=0),
        faults.refusal(on="any", number=6, times=0, status=502, envelope=False),
        *(
            (call, Refused(status, 10021, f"cannot read Bearer {sent} in your upload"))
            for call, sent in (("GET workers/subdomain", TOKEN), ("PUT workers/scripts/cf-batch-door", TOKEN + SECRET))
            for status in (400, 403)
        ),
    ],
    ids=range(8),
)
async def test_nothing_is_told_where_the_upload_fails_or_the_service_repeats_both(
    known: Bench, wrong: Fault | tuple[str, Refused], caplog: pytest.LogCaptureFixture
) -> None:
    if isinstance(wrong, Fault):
        known.faulty.follow(wrong)
    else:
        known.account.refuse_first = {wrong[0]: [wrong[1]] * 9}
    with pytest.raises(Stopped) as caught:
        await known.set_up()
    assert "worker_setup" in everything_told(caught.value)
    assert isinstance(wrong, Fault) or "in your upload" in caught.value.detail
    assert is_silent(known, caught.value, caplog)


async def test_a_client_that_is_made_for_it_keeps_the_token_to_itself(bench: Bench, tmp_path: Path) -> None:
    client = bench.program.address_book.account_client(ACCOUNT, Token(TOKEN))
    assert CORE not in repr(client) + repr(vars(client)) + repr(vars(bench.program.address_book))
