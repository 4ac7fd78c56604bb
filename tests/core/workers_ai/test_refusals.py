"""What a refusal offers and how long it lasts; its types, and what becomes of a batch, are in tests/core/faults."""

from email.utils import formatdate
from itertools import product

import pytest

from cfbatch_gui.core.errors import Action, ServiceBusy, TokenRefused, UserError
from cfbatch_gui.core.workers_ai.answers import ServiceError
from cfbatch_gui.core.workers_ai.refusals import Refusal, read_retry_after, refusal

NOON = 1_785_585_600.0  # 2026-08-01 12:00 UTC
TOO_LONG = "AiError: Sequence too long: 9000 > 8192"
TOO_MANY = "Max context reached 70000 tokens but model supports only 60000"
NO_QUEUE = "AiError: This model does not support request queuing"
DAY = "AiError: used up your daily free allocation"
FAULTS = ((408, 0), (500, 0), (502, 0), (503, 99), (500, 1000), (500, 10000), (502, 5504), (500, 5006), (503, 7003))


def refused(status: int, code: int = 0, message: str = "words", retry_after: str = "") -> UserError:
    errors = (ServiceError(code, message),) if code or message != "words" else ()
    return refusal(Refusal(status, errors, retry_after, NOON))


@pytest.mark.parametrize(
    ("status", "code", "message", "action"),
    [
        *((status, code, "words", Action.OPEN_CONNECTION) for status, code in product((400, 404), (10000, 1000, 9106))),
        *((404, code, "words", Action.OPEN_CONNECTION) for code in (7000, 2001)),
        # The words of a refusal count where its code does not say it.
        *((400, code, TOO_LONG, Action.NONE) for code in (3030, 5006, 0, 12)),
        *((400, code, TOO_MANY, Action.SMALLER_BATCHES) for code in (3030, 5006, 0, 12)),
        (400, 8007, NO_QUEUE, Action.RUN_SYNCHRONOUSLY),
        (400, 8007, "words", Action.NONE),
        (404, 5504, "words", Action.SEND_AGAIN),
        (413, 3006, "words", Action.SMALLER_BATCHES),
        *((status, code, "words", Action.RETRY) for status, code in ((408, 3007), (500, 5001))),
        *((status, code, "words", Action.NONE) for status, code in ((400, 5007), (400, 5006), (403, 5018), (418, 99))),
    ],
)
def test_a_refusal_offers_what_can_be_done(status: int, code: int, message: str, action: Action) -> None:
    error = refused(status, code, message)
    assert (error.action, error.code) == (action, code)


@pytest.mark.parametrize(
    ("status", "code", "message", "retry_after", "seconds"),
    [
        (429, 3036, DAY, "", 43_200),
        (429, 3021, "words", "", 60),
        (429, 3021, "words", "7", 7),
        (429, 3040, "words", "", 15),
        (429, 0, "words", "", 300),
        (429, 0, "words", "42", 42),
        # A fault of the service's own passes, whatever its code.
        *((status, code, "words", *wait) for status, code in FAULTS for wait in (("", 0), ("120", 120))),
    ],
)
def test_what_passes_says_how_long_to_wait(
    status: int, code: int, message: str, retry_after: str, seconds: float
) -> None:
    error = refused(status, code, message, retry_after)
    assert isinstance(error, ServiceBusy)
    assert (error.retry_after, error.code) == (seconds, code)


def test_the_first_error_that_is_known_counts() -> None:
    errors = (ServiceError(1, "a"), ServiceError(10000, "b"), ServiceError(3040, "c"))
    assert type(refusal(Refusal(429, errors, "", NOON))) is TokenRefused


def test_the_services_own_words_are_in_the_detail_alone() -> None:
    error = refused(400, 5006, "AiError: <b>bad</b> input")
    assert error.detail == "5006: <b>bad</b> input; HTTP 400"
    assert "bad" not in error.message


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("1.5", 1.5),
        (formatdate(NOON + 90, usegmt=True), 90.0),
        (formatdate(NOON + 90), 90.0),
        (formatdate(NOON - 90, usegmt=True), 0.0),
        *((words, None) for words in ("", "-5", "soon")),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str, seconds: float | None) -> None:
    assert read_retry_after(header, NOON) == seconds
