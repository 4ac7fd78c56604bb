"""Every refusal has a sentence and an action; the error code takes precedence over the HTTP status."""

from email.utils import formatdate
from itertools import product

import pytest

from cfbatch_gui.core.errors import (
    Action,
    QueueNotSupported,
    RequestGone,
    ServiceBusy,
    ServiceRefused,
    TokenRefused,
    TooManyTexts,
    UserError,
)
from cfbatch_gui.core.workers_ai.answers import ServiceError
from cfbatch_gui.core.workers_ai.refusals import RULES, STATUS_RULES, Refusal, Rule, read_retry_after, refusal

NOON = 1_785_585_600.0  # 2026-08-01 12:00 UTC


def refused(status: int, code: int = 0, message: str = "words", retry_after: str = "") -> UserError:
    errors = (ServiceError(code, message),) if code or message != "words" else ()
    return refusal(Refusal(status, errors, retry_after, NOON))


@pytest.mark.parametrize(("status", "code"), [*product((400, 401, 403, 404), (10000, 1000, 9106)), (401, 0)])
def test_a_refused_token_stops_everything(status: int, code: int) -> None:
    error = refused(status, code)
    assert type(error) is TokenRefused
    assert error.message == "Cloudflare refused the API token. Sending has stopped; nothing was lost."
    assert error.action is Action.OPEN_CONNECTION


@pytest.mark.parametrize(
    ("status", "code", "message", "retry_after", "seconds"),
    [
        (429, 3036, "AiError: used up your daily free allocation", "", 43_200),
        (429, 3021, "words", "", 60),
        (429, 3021, "words", "7", 7),
        (429, 3040, "words", "", 15),
        (429, 0, "words", "", 300),
        (429, 0, "words", "42", 42),
    ],
)
def test_429_means_four_things(status: int, code: int, message: str, retry_after: str, seconds: float) -> None:
    error = refused(status, code, message, retry_after)
    assert isinstance(error, ServiceBusy)
    assert error.retry_after == seconds
    assert error.code == code


@pytest.mark.parametrize(
    ("status", "code"),
    [(408, 0), (500, 0), (502, 0), (503, 99), (500, 1000), (500, 10000), (502, 5504), (500, 5006), (503, 7003)],
)
def test_a_fault_of_the_service_passes_whatever_its_code(status: int, code: int) -> None:
    for retry_after, seconds in (("", 0), ("120", 120)):
        error = refused(status, code, "words", retry_after)
        assert isinstance(error, ServiceBusy)
        assert error.retry_after == seconds
        assert error.message.endswith("The program goes on by itself.")


@pytest.mark.parametrize(
    ("status", "code", "words", "action"),
    [
        (404, 7000, "does not know this account or this model", Action.OPEN_CONNECTION),
        (400, 5007, "has no model of this name", Action.NONE),
        (400, 5028, "has retired this model", Action.NONE),
        (400, 5006, "did not accept the texts", Action.NONE),
        (413, 3006, "smaller batches", Action.SMALLER_BATCHES),
        (408, 3007, "took too long", Action.RETRY),
        (403, 5018, "may not use this model", Action.NONE),
        (403, 5016, "terms", Action.NONE),
        (500, 5001, "model failed", Action.RETRY),
        (400, 2001, "AI Gateway", Action.OPEN_CONNECTION),
        (418, 99, "refused the request", Action.NONE),
        (400, 8007, "refused the request", Action.NONE),  # its words are not those of a model without a queue
    ],
)
def test_other_refusals_say_what_and_what_can_be_done(status: int, code: int, words: str, action: Action) -> None:
    error = refused(status, code)
    assert type(error) is ServiceRefused
    assert words in error.message
    assert error.action is action
    assert error.code == code


def test_some_refusals_have_a_type_of_their_own() -> None:
    assert type(refused(403)) is TokenRefused
    assert type(refused(400, 8007, "AiError: This model does not support request queuing")) is QueueNotSupported
    gone = refused(404, 5504, "Request not found in queue")
    assert type(gone) is RequestGone and gone.action is Action.SEND_AGAIN


@pytest.mark.parametrize("code", [3030, 5006, 0, 12])
def test_texts_that_are_too_long_are_told_by_their_words(code: int) -> None:
    assert "A text is too long" in refused(400, code, "AiError: Sequence too long: 9000 > 8192").message
    error = refused(400, code, "Max context reached 70000 tokens but model supports only 60000")
    assert isinstance(error, TooManyTexts)


def test_the_first_error_that_is_known_counts() -> None:
    errors = (ServiceError(1, "a"), ServiceError(10000, "b"), ServiceError(3040, "c"))
    assert type(refusal(Refusal(429, errors, "", NOON))) is TokenRefused


def test_the_services_own_words_are_in_the_detail_alone() -> None:
    error = refused(400, 5006, "AiError: <b>bad</b> input")
    assert error.detail == "5006: <b>bad</b> input; HTTP 400"
    assert "bad" not in error.message


@pytest.mark.parametrize("rule", [*RULES, *STATUS_RULES.values()])
def test_every_rule_has_a_whole_sentence(rule: Rule) -> None:
    sentence = rule.sentence.format(service="Cloudflare")
    assert sentence[0].isupper()
    assert sentence.endswith(".")
    assert "{" not in sentence


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("1.5", 1.5),
        (formatdate(NOON + 90, usegmt=True), 90.0),
        (formatdate(NOON + 90), 90.0),
        (formatdate(NOON - 90, usegmt=True), 0.0),
        ("", None),
        ("-5", None),
        ("soon", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str, seconds: float | None) -> None:
    assert read_retry_after(header, NOON) == seconds
