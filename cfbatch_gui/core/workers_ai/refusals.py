"""A table of the service's refusals: for each the sentence for the user and the action to offer.

The error code is looked up before the HTTP status: 429 alone has four meanings. Sources:
https://developers.cloudflare.com/workers-ai/platform/errors/ and
https://developers.cloudflare.com/fundamentals/api/reference/limits/
"""

import email.utils
import math
import re
from collections.abc import Callable, Sequence
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
TOKEN_REFUSED: Final = message("{service} refused the API token. Sending has stopped; nothing was lost.")
_GOES_ON: Final = message("{sentence} The program goes on by itself.")
_NOT_KNOWN: Final = Rule(
    (7000, 7003),
    message("{service} does not know this account or this model. Check the account ID and the model's name."),
    action=Action.OPEN_CONNECTION,
)
_RETIRED: Final = Rule((5028,), message("{service} has retired this model. Choose another model."))
_TOO_LARGE: Final = Rule(
    (3006,), message("The batch is too large for {service}. Send it in smaller batches."), action=Action.SMALLER_BATCHES
)

# The first rule that applies is used. The service's own message is never part of a sentence, only of the detail.
RULES: Final = (
    Rule(
        (),
        message("A text is too long for the model. Shorten it, or let long texts be cut off."),
        words="sequence too long",
    ),
    Rule(
        (),
        message("The texts of a request are too long together for the model. Sent again, requests have half as many."),
        TooManyTexts,
        words="max context reached",
    ),
    Rule(
        (5006, 3030, 5004, 3003),
        message(
            "The model takes fewer texts in one request than this one has. Sent again, requests have half as many."
        ),
        TooManyTexts,
        words=r"maxitems|\barray\b[^,;]*(?:<=|at most|too long)|(?:<=|at most|more than) \d+ (?:items|strings|texts)"
        r"|length of '[^']*/(?:text|documents|queries)' must be <=",
    ),
    # 6003 and 6111: the Authorization header has the wrong form; 9109: the token is not valid.
    Rule((10000, 1000, 9106, 9109, 6003, 6111), TOKEN_REFUSED, TokenRefused),
    Rule(
        (3036, 4006),
        message(
            "Today's free neurons are used up. The program goes on by itself with tomorrow's; a paid plan goes on "
            "at once."
        ),
        ServiceBusy,
        wait=None,
    ),
    Rule((3021,), message("{service} takes no more requests in this minute."), ServiceBusy, wait=60.0),
    Rule((3040,), message("{service} has no capacity for this model just now."), ServiceBusy, wait=15.0),
    _NOT_KNOWN,
    Rule((5007, 3042), message("{service} has no model of this name. Choose another model.")),
    _RETIRED,
    Rule(
        (8007,),
        message("This model takes no batches at present. The texts can be sent one request at a time instead."),
        QueueNotSupported,
        words="support request queu",
    ),
    Rule(
        (5504,),
        message(
            "{service} does not know this batch, or no longer. Its results cannot be collected; the batch can be "
            "sent again, which is paid for again."
        ),
        RequestGone,
    ),
    _TOO_LARGE,
    Rule(
        (5006, 3030, 5004, 3003),
        message("{service} did not accept the texts as they are. The details hold its reason."),
    ),
    Rule(
        (3007, 3008, 3046),
        message("The model took too long at {service}, and the work was stopped there."),
        action=Action.RETRY,
    ),
    Rule((5018, 3041), message("This account may not use this model. Choose another model, or another account.")),
    Rule(
        (5016,),
        message("The terms of this model have not been accepted yet. Accept them on {service}'s page of the model."),
    ),
    Rule((3023,), message("{service} has blocked this account. Only its support can help.")),
    Rule((5035,), message("This model needs a paid plan at {service}.")),
    Rule(
        (_MODEL_FAILED,),
        message("The model failed at {service}, and no part of the batch has a result."),
        action=Action.RETRY,
    ),
    Rule(
        (2009,),
        message("The AI Gateway asks for a token of its own, or refused the one it got. Enter the gateway's token."),
        TokenRefused,
    ),
    Rule(
        (2001,),
        message("There is no AI Gateway of this name in the account. Check the gateway's name."),
        action=Action.OPEN_CONNECTION,
    ),
)

# Refusals without a known code, by HTTP status; 0 is any other.
STATUS_RULES: Final = {
    401: Rule((), TOKEN_REFUSED, TokenRefused),
    403: Rule(
        (),
        message("{service} does not let this API token use the account. Sending has stopped; nothing was lost."),
        TokenRefused,
    ),
    404: _NOT_KNOWN,
    408: Rule((), message("{service} stopped waiting for the request."), ServiceBusy),
    410: _RETIRED,
    413: _TOO_LARGE,
    429: Rule(
        (),
        message("{service} was asked too often, by this program or by others with the same account."),
        ServiceBusy,
        wait=BLOCK_SECONDS,
    ),
    500: Rule((), message("{service} has a fault of its own just now."), ServiceBusy),
    0: Rule((), message("{service} refused the request. The details hold its reason.")),
}

# Code 8007 in answer to a poll concerns the model, not the batch, which was accepted while the model took batches and
# may have been billed: the batch stays queued, and no other way of sending it is offered.
_QUEUE_REFUSED_TO_POLL: Final = message(
    "{service} says that this model takes no batches at present, and nothing about this one, which it has "
    "accepted. Nothing was given up; carry on later to ask again."
)


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


def refusal_to_poll(error: QueueNotSupported, service: str) -> ServiceRefused:
    """The error for `QueueNotSupported` in answer to a poll."""
    return ServiceRefused(_QUEUE_REFUSED_TO_POLL.filled(service=service), detail=error.detail, code=error.code)


def read_retry_after(header: str, now: float) -> float | None:
    """Seconds, at most `MAX_RETRY_AFTER_SECONDS`, of a Retry-After: seconds or an HTTP date; None for other text."""
    text = header.strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = email.utils.parsedate_to_datetime(text)
            # RFC 9110: the date is in GMT, also with "-0000", for which Python returns a datetime without a zone
            seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now
            seconds = max(seconds, 0.0)
        except (ValueError, OverflowError):
            return None
    if math.isnan(seconds) or seconds < 0:
        return None
    return min(seconds, MAX_RETRY_AFTER_SECONDS)


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


NO_CLEAR_ANSWER: Final = message(
    "This batch was sent to {title}, but no clear answer came back. It may have been accepted and billed, so it is not "
    "sent again by itself."
)
BROKEN: Final = message("The connection to {title} broke.")
NOT_REACHED: Final = {  # by the reason of an ExchangeError
    "name": message("{title} could not be found. Check that this computer is connected to the internet."),
    "refused": message("{title} could not be reached. Check that this computer is connected to the internet."),
    "address": message(
        "The address of {title} cannot be used, so nothing was sent. Open the connection and check its address."
    ),
    "tls": message(
        "The connection to {title} is not trusted by this computer, so nothing was sent. In a company's network, "
        "its own certificate may have to be installed on this computer."
    ),
    "time": message("{title} did not answer in time."),
    "clock": message(
        "The certificate of {title} is not valid at {now}, which is what this computer's clock shows. Nothing was "
        "sent. Set the clock, then try again."
    ),
    "proxy": message(
        "This computer's proxy, {proxy}, does not let the connection to {title} through. Nothing was sent. Check "
        "the system's proxy settings."
    ),
    "proxy_address": message(
        "This computer's proxy cannot be used: its address cannot be read, or it is not an HTTP proxy. Nothing was "
        "sent. Set an HTTP proxy in the system's settings, or none."
    ),
    "mixed": message(
        "The connection to {title} held more than one answer, so none of it was used. Something on the way, such as "
        "a proxy, mixes answers up."
    ),
    "too_large": message("{title} sent far more than an answer can hold, so it was not read."),
}

_OTHER: Final = message(
    "Something other than {title} answered. If this network wants you to sign in first, do so in a browser."
)
_FAULT: Final = message("{title}, or something on the way to it, has a fault just now.")
# With its page 1027: https://developers.cloudflare.com/workers/platform/limits/#daily-requests
_DAY_USED_UP: Final = message(
    "Cloudflare lets no calls through to {title} just now. On the Workers Free plan a Worker may be called 100,000 "
    "times a day, and a day ends at midnight UTC."
)
_SIGN_IN_FIRST: Final = 511  # HTTP's own status for a captive portal


def not_the_service(status: int, *, is_worker: bool) -> Message:
    if status >= 500 and status != _SIGN_IN_FIRST:
        return _FAULT
    return _DAY_USED_UP if status == 429 and is_worker else _OTHER
