"""Neither the token nor the Worker's secret is in an exception, a log, a repr or a file, whatever goes wrong."""

import logging
from pathlib import Path

import pytest

from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.worker_setup.worker_setup import Stopped
from cfbatch_gui.core.workers_ai.api_tokens import Token
from tests.account_service import ACCOUNT, Refused
from tests.canary import CORE, OTHER_TOKEN, SECRET, TOKEN
from tests.canary_search import Search
from tests.core.worker_setup.conftest import URL, Bench
from tests.core.workers_ai.telling import everything_told, holds_token
from tests.support import faults
from tests.support.faults import Fault

PUT = "PUT workers/scripts/cf-batch-door"
FAULTS: dict[str, Fault] = {
    "reset": faults.reset_after_body(on="any", number=6, times=0),
    "reset in the body": faults.reset_in_body(on="any", number=6, times=0, byte=400),
    "cut": faults.cut_reply(on="any", number=6, times=0),
    "fault": faults.refusal(on="any", number=6, times=0, status=502, envelope=False),
}


@pytest.fixture
async def known(bench: Bench, caplog: pytest.LogCaptureFixture) -> Bench:
    """A Worker whose secret is one that the search knows; everything that any library logs is kept."""
    for name in ("", "httpcore", "httpx", "asyncio"):
        caplog.set_level(logging.DEBUG, name)
    await bench.program.connections.save(SavedConnection("", "Berlin", "worker", url=URL), secret=SECRET)
    return bench


def is_silent(bench: Bench, error: BaseException | None, caplog: pytest.LogCaptureFixture) -> bool:
    """Whether nothing has told a secret."""
    told = everything_told(error) if error is not None else ""
    logged = "\n".join(f"{each.getMessage()} {each.args} {each.exc_text}" for each in caplog.records)
    search = Search()
    search.folder(bench.program.paths.root)
    shown = "\n".join(repr(each) for each in bench.shown)
    return not search.hits and not holds_token(f"{told}\n{logged}\n{shown}\n{bench.setup!r}")


async def test_all_goes_well(known: Bench, caplog: pytest.LogCaptureFixture) -> None:
    await known.set_up()
    await known.take_down()
    assert is_silent(known, None, caplog)
    assert known.keyring.stored.keys() == {("CF Batch", known.saved[0].id)}, "the token is not in the keyring"


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_the_upload_fails(known: Bench, fault: Fault, caplog: pytest.LogCaptureFixture) -> None:
    known.faulty.follow(fault)
    with pytest.raises(Stopped) as caught:
        await known.set_up()
    assert "worker_setup" in everything_told(caught.value)
    assert is_silent(known, caught.value, caplog)


@pytest.mark.parametrize("call", ["GET workers/subdomain", PUT, "POST workers/scripts/cf-batch-door/subdomain"])
@pytest.mark.parametrize("status", [400, 403])
async def test_the_service_repeats_both(known: Bench, call: str, status: int, caplog: pytest.LogCaptureFixture) -> None:
    said = Refused(status, 10021, f"cannot read Bearer {TOKEN} and {SECRET} in your upload")
    known.account.refuse_first[call] = [said] * 9
    with pytest.raises(Stopped) as caught:
        await known.set_up()
    told = everything_told(caught.value)
    assert TOKEN not in told
    if call == PUT:
        assert "in your upload" in caught.value.detail
        assert is_silent(known, caught.value, caplog)


async def test_a_token_that_is_refused(known: Bench, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Stopped) as caught:
        await known.set_up(token=OTHER_TOKEN)
    assert is_silent(known, caught.value, caplog)


async def test_a_client_that_is_made_for_it_keeps_the_token_to_itself(bench: Bench, tmp_path: Path) -> None:
    client = bench.program.address_book.account_client(ACCOUNT, Token(TOKEN))
    assert CORE not in repr(client) + repr(vars(client)) + repr(vars(bench.program.address_book))
