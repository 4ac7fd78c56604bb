"""Failures of exchanges with the service: no exception, log or file holds the token."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.system import logs
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.limits import ExchangeLimit, ExchangeLimits
from cfbatch_gui.core.workers_ai.transport import REDACTED, EchoedSecrets, HttpAnswer
from tests.canary import CORE, SECRET, TOKEN
from tests.core.workers_ai.conftest import BODY, MODEL
from tests.core.workers_ai.conftest import connected as patient
from tests.core.workers_ai.telling import FORMS, Form, everything_told, holds_secret, holds_token
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService

# Short, for services that stall; a busy computer can exceed them where none does.
SHORT = ExchangeLimit(0.3, 100_000)
LIMITS = ExchangeLimits(submit=SHORT, poll=SHORT, check=SHORT)
TALKATIVE = ("", "httpcore", "httpx", "asyncio")

FAULTS: dict[str, Fault] = {
    "refused": faults.refuse(),
    "reset at once": faults.reset_at_accept(),
    "reset after headers": faults.reset_after_headers(),
    "reset in the body": faults.reset_in_body(),
    "reset in the reply": faults.reset_in_reply(),
    "silence": faults.stall(times=0),
    "silence in the reply": faults.stall_in_reply(),
    "cut": faults.cut_reply(),
    "no HTTP": faults.garbage(),
    "no JSON": faults.garbage_body(),
    "bad gzip": faults.false_encoding(),
    "too large": faults.large_reply(megabytes=1),
    "redirect": faults.redirect(),
    "page": faults.page(),
    "token refused": faults.refusal(status=401, code=10000, message="Authentication error"),
    "token repeated": faults.refusal(code=6003, message=f"Invalid request headers: Authorization: Bearer {TOKEN}"),
    "token repeated alone": faults.refusal(code=5006, message=f"no such token:{TOKEN}."),
    "token in a page": faults.any_reply(status=502, body=f"<html><title>{TOKEN}</title><p>{TOKEN}"),
    "token in what is cut": faults.any_reply(body=f'{{"result": "{TOKEN}'),
    "token in another form": faults.any_reply(body=f'{{"result": {{"responses": "{TOKEN}"}}, "success": "{TOKEN}"}}'),
    "fault": faults.refusal(status=500, code=5001, message="AiError"),
    "fault without words": faults.refusal(status=502, envelope=False),
}
connected = partial(patient, limits=LIMITS)
Call = Callable[[WorkersAI], Awaitable[object]]
CALLS: dict[str, Call] = {
    "submit": lambda client: client.submit(MODEL, BODY),
    "ask": lambda client: client.ask(MODEL, "00000000-0000-4000-8000-000000000000"),
    "check": lambda client: client.find_models("bge"),
}


@pytest.fixture
def all_logged(caplog: pytest.LogCaptureFixture) -> Callable[[], str]:
    for name in TALKATIVE:
        caplog.set_level(logging.DEBUG, name)
    return lambda: "\n".join(f"{record.getMessage()} {record.args} {record.exc_text}" for record in caplog.records)


@pytest.mark.parametrize(("name", "call"), list(zip(FAULTS, cycle(CALLS.values()), strict=False)), ids=FAULTS)
async def test_no_failure_tells_the_token(
    faulty: FaultyService, name: str, call: Call, all_logged: Callable[[], str]
) -> None:
    faulty.follow(FAULTS[name])
    with pytest.raises(UserError) as caught:
        await call(connected(faulty.url))
    told = everything_told(caught.value)
    assert "workers_ai" in told
    assert not holds_token(told)
    assert not holds_token(all_logged())


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    ("address", "before"),
    [("http://127.0.0.1:9/client/v4", ""), ("https", ""), ("http", "é"), ("http", " \r\nX: ")],
    ids=["nobody there", "no TLS there", "letter", "header"],
)
async def test_what_does_not_leave_tells_no_token(
    faulty: FaultyService, address: str, before: str, call: Call, all_logged: Callable[[], str]
) -> None:
    """A service that cannot be reached, and a token that no header can hold, which `check_form` refuses before."""
    address = address if "//" in address else faulty.url.replace("http", address, 1)
    with pytest.raises(UserError) as caught:
        await call(connected(address, f"{before}{TOKEN}"))
    assert not any(arrival.status for arrival in faulty.arrivals)
    assert not holds_token(everything_told(caught.value))
    assert not holds_token(all_logged())


async def test_a_call_that_is_cancelled_tells_nothing(faulty: FaultyService, all_logged: Callable[[], str]) -> None:
    faulty.follow(faults.stall(times=0))
    task = asyncio.ensure_future(connected(faulty.url).submit(MODEL, BODY))
    while not faulty.arrivals:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    own = [frame for frame in everything_told(caught.value).splitlines() if "cfbatch_gui" in frame]
    assert own and not holds_token("\n".join(own))
    assert not holds_token(all_logged() + repr(task))


async def test_asyncio_watching_closely_logs_no_token(faulty: FaultyService, all_logged: Callable[[], str]) -> None:
    loop = asyncio.get_running_loop()
    loop.set_debug(True)
    loop.slow_callback_duration = 0.0
    try:
        client = patient(faulty.url)
        queued = await client.submit(MODEL, BODY)
        await client.ask(MODEL, queued.request_id)
    finally:
        loop.set_debug(False)
    assert "Executing" in all_logged()
    assert not holds_token(all_logged())


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    paths = Paths(tmp_path / "data")
    paths.create()
    level = logging.getLogger().level
    handler = logs.set_up(paths, level=logging.DEBUG)
    yield paths.log
    logs.shut_down(handler)
    logging.getLogger().setLevel(level)


async def test_the_programs_log_at_its_most_talkative(faulty: FaultyService, log_file: Path) -> None:
    log = logging.getLogger("cfbatch_gui.test")
    client = connected(faulty.url)
    await client.submit(MODEL, BODY)
    faulty.follow(FAULTS["token repeated"], FAULTS["reset in the reply"], FAULTS["token refused"])
    for _ in range(3):
        with pytest.raises(UserError) as caught:
            await client.find_models("bge")
        log.error("%s %r", caught.value.detail, caught.value, exc_info=caught.value)
    written = log_file.read_text()
    assert written.count("Traceback") >= 3
    assert "httpcore" not in written.replace("site-packages/httpcore", "")
    assert not holds_token(written)


SECRETS = EchoedSecrets([TOKEN, SECRET])


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_spelling_goes_anywhere_in_an_answer(form: Form) -> None:
    for secret in (TOKEN, SECRET):
        text = form(secret)
        assert holds_secret(text.encode())
        answer = {"errors": [{"code": 1, "message": f"before {text} after"}], text: [text, *[0.125] * 100_000]}
        cleaned = SECRETS.removed_from(json.dumps(answer).encode())
        assert not holds_secret(cleaned)
        errors, (name, numbers) = json.loads(cleaned)["errors"], list(json.loads(cleaned).items())[1]
        assert errors[0]["message"].startswith("before ") and errors[0]["message"].endswith(" after")
        assert REDACTED in errors[0]["message"] and REDACTED in name and numbers[1:] == [0.125] * 100_000


def test_a_secret_of_signs_goes_as_JSON_and_addresses_escape_it() -> None:
    secret = 'a/b"c\\d+e&f g'
    secrets = EchoedSecrets([secret])
    for text in (json.dumps(secret), json.dumps(secret).replace("/", "\\/"), '"a%2Fb%22c%5Cd%2Be%26f%20g"'):
        assert secrets.removed_from(text.encode()) == f'"{REDACTED}"'.encode()


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_an_answer_without_a_secret_stays_as_it_is(value: object) -> None:
    data = json.dumps(value).encode()
    assert SECRETS.removed_from(data) is data


async def test_a_header_is_cleaned_and_a_secret_is_not_shown() -> None:
    answer = await SECRETS.removed(HttpAnswer(200, {"content-type": f"text/html; token={TOKEN}"}, b""))
    assert answer.headers == {"content-type": f"text/html; token={REDACTED}"}
    assert CORE not in repr(SECRETS)
