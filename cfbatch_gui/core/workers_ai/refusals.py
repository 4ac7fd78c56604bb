"""A table of the service's refusals: for each the sentence for the user and the action to offer.

The error code is looked up before the HTTP status: 429 alone has four meanings. Sources:
https://developers.cloudflare.com/workers-ai/platform/errors/ and
https://developers.cloudflare.com/fundamentals/api/reference/limits/
"""

import email.utils
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from typing import Final, NamedTuple, TypeAlias, cast

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
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.workers_ai.answers import ServiceError
from cfbatch_gui.core.workers_ai.catalogue import next_reset
from cfbatch_gui.core.workers_ai.limits import BLOCK_SECONDS, MAX_RETRY_AFTER_SECONDS


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of refusal, by one of `codes` (() is any) and `words`, a regular expression, in its message.

    `wait` is in seconds, for ServiceBusy without a Retry-After; None waits for the day's end.
    """

    codes: tuple[int, ...]
    sentence: Message
    error: type[ServiceRefused] | type[TokenRefused] = ServiceRefused
    action: Action | None = None
    words: str = ""
    wait: float | None = 0.0


_MODEL_FAILED: Final = 5001  # the one code that is documented with HTTP 500
TOKEN_REFUSED: Final = message("service_refused_api_token_sending_stopped")
_GOES_ON: Final = message("sentence_program_goes_on_itself")
_NOT_KNOWN: Final = Rule((7000, 7003), message("service_does_not_know_account_or"), action=Action.OPEN_CONNECTION)
_RETIRED: Final = Rule((5028,), message("service_retired_model_choose_another_model"))
_TOO_LARGE: Final = Rule((3006,), message("batch_is_too_large_service_send"), action=Action.SMALLER_BATCHES)

# The first rule that applies is used. The service's own message is never part of a sentence, only of the detail.
RULES: Final = (
    Rule((), message("text_is_too_long_model_shorten"), words="sequence too long"),
    Rule((), message("texts_request_are_too_long_together"), TooManyTexts, words="max context reached"),
    Rule(
        (5006, 3030, 5004, 3003),
        message("model_takes_fewer_texts_one_request"),
        TooManyTexts,
        words=r"maxitems|\barray\b[^,;]*(?:<=|at most|too long)|(?:<=|at most|more than) \d+ (?:items|strings|texts)"
        r"|length of '[^']*/(?:text|documents|queries)' must be <=",
    ),
    # 6003 and 6111: the Authorization header has the wrong form; 9109: the token is not valid.
    Rule((10000, 1000, 9106, 9109, 6003, 6111), TOKEN_REFUSED, TokenRefused),
    Rule((3036, 4006), message("today_free_neurons_are_used_up"), ServiceBusy, wait=None),
    Rule((3021,), message("service_takes_no_more_requests_minute"), ServiceBusy, wait=60.0),
    Rule((3040,), message("service_no_capacity_model_just_now"), ServiceBusy, wait=15.0),
    _NOT_KNOWN,
    Rule((5007, 3042), message("service_no_model_name_choose_another")),
    _RETIRED,
    Rule((8007,), message("model_takes_no_batches_present_texts"), QueueNotSupported, words="support request queu"),
    Rule((5504,), message("service_does_not_know_batch_or"), RequestGone),
    _TOO_LARGE,
    Rule((5006, 3030, 5004, 3003), message("service_did_not_accept_texts_they")),
    Rule((3007, 3008, 3046), message("model_took_too_long_service_work"), action=Action.RETRY),
    Rule((5018, 3041), message("account_may_not_use_model_choose")),
    Rule((5016,), message("terms_model_not_been_accepted_yet")),
    Rule((3023,), message("service_blocked_account_only_support_can")),
    Rule((5035,), message("model_needs_paid_plan_service")),
    Rule((_MODEL_FAILED,), message("model_failed_service_no_part_batch"), action=Action.RETRY),
    Rule((2009,), message("ai_gateway_asks_token_own_or"), TokenRefused),
    Rule((2001,), message("there_is_no_ai_gateway_name"), action=Action.OPEN_CONNECTION),
)

# Refusals without a known code, by HTTP status; 0 is any other.
STATUS_RULES: Final = {
    401: Rule((), TOKEN_REFUSED, TokenRefused),
    403: Rule((), message("service_does_not_let_api"), TokenRefused),
    404: _NOT_KNOWN,
    408: Rule((), message("service_stopped_waiting_request"), ServiceBusy),
    410: _RETIRED,
    413: _TOO_LARGE,
    429: Rule((), message("service_was_asked_too_often_program"), ServiceBusy, wait=BLOCK_SECONDS),
    500: Rule((), message("service_fault_own_just_now"), ServiceBusy),
    0: Rule((), message("service_refused_request_details_hold_reason")),
}


class Refusal(NamedTuple):
    """A refusal as the service sent it; `retry_after` is the header as received, `now` in seconds since 1970."""

    status: int
    errors: Sequence[ServiceError]
    retry_after: str
    now: float
    service: str = "Cloudflare"


def refusal(refused: Refusal) -> UserError:
    """The error for a refusal. Of a submit the caller handles HTTP 408 and 5xx, which leave its outcome unknown."""
    code, rule = _find_rule(refused.status, refused.errors)
    sentence, detail = rule.sentence.filled(service=refused.service), _detail(refused.status, refused.errors)
    if issubclass(rule.error, TokenRefused):
        return rule.error(sentence, detail=detail, code=code, status=refused.status)
    if not issubclass(rule.error, ServiceBusy):
        return rule.error(sentence, detail=detail, code=code, action=rule.action)
    if rule.wait is None:
        return rule.error(sentence, retry_after=next_reset(refused.now) - refused.now, detail=detail, code=code)
    asked = read_retry_after(refused.retry_after, refused.now)
    wait = rule.wait if asked is None else asked
    return rule.error(_GOES_ON.filled(sentence=sentence), retry_after=wait, detail=detail, code=code)


Refuse: TypeAlias = Callable[[Refusal], UserError]


def without_going_on(sentence: str) -> str:
    """The sentence for a call that is not made again by itself."""
    if isinstance(sentence, Message) and sentence.template == _GOES_ON.template:
        return cast(Message, sentence.parameters["sentence"])
    return sentence


def read_retry_after(header: str, now: float) -> float | None:
    """Seconds, at most `MAX_RETRY_AFTER_SECONDS`, of a Retry-After: seconds or an HTTP date; None for other text."""
    text = header.strip()
    with suppress(ValueError):
        seconds = float(text)
        return min(seconds, MAX_RETRY_AFTER_SECONDS) if seconds >= 0 else None  # it may be "nan"
    with suppress(ValueError, OverflowError):
        moment = email.utils.parsedate_to_datetime(text)
        # RFC 9110: the date is in GMT, also with "-0000", for which Python returns a datetime without a zone
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now
        return min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS)
    return None


def _find_rule(status: int, errors: Sequence[ServiceError]) -> tuple[int, Rule]:
    for error in errors:
        said = error.message.casefold()
        for rule in RULES:
            if status >= 500 and error.code != _MODEL_FAILED and rule.error is not ServiceBusy:
                continue  # a fault of the service's own, which says nothing of the token or the batch
            if (not rule.codes or error.code in rule.codes) and re.search(rule.words, said):
                return error.code, rule
    code = next((error.code for error in errors if error.code), 0)
    if status == 403 and code:  # with an unknown code it need not concern the token
        return code, STATUS_RULES[0]
    return code, STATUS_RULES.get(500 if status >= 500 else status, STATUS_RULES[0])


def _detail(status: int, errors: Sequence[ServiceError]) -> str:
    words = [f"{error.code}: {error.message.removeprefix('AiError: ')}" for error in errors]
    return "; ".join([*words, f"HTTP {status}"])
