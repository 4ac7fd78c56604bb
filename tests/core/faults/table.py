"""The expected behaviour and sentences of the program for every fault. A changed sentence has to be changed here too.

Each fault has three endings: for sending a batch, for polling it, and for checking the connection.
"""

from dataclasses import dataclass

from cfbatch_gui.core.errors import (
    QueueNotSupported,
    RequestGone,
    ServiceBusy,
    ServiceRefused,
    TokenRefused,
    Unreachable,
    UnreadableReply,
    UserError,
)
from cfbatch_gui.core.jobs.states import BatchState, JobState
from tests.support import faults
from tests.support.faults import Fault


@dataclass(frozen=True)
class Ending:
    """The final states of a batch and its job, and all sentences shown until then, in order."""

    batch: BatchState
    job: JobState
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """`check` is the error that fetching the list of models raises, and its sentence; None for no error."""

    name: str
    fault: Fault
    submit: Ending
    poll: Ending
    check: tuple[type[UserError], str] | None
    tls: bool = False
    trusted: bool = True

    @property
    def has_twins(self) -> bool:
        """Whether the outcome of a submit is unknown both when the service accepted it and when it did not."""
        return self.fault.billed is not None and self.submit is LOST


NO_CLEAR_ANSWER = (
    "This batch was sent to Cloudflare, but no clear answer came back. It may have been accepted and billed, so it is"
    " not sent again by itself."
)
NOT_REACHED = "Cloudflare could not be reached. Check that this computer is connected to the internet."
NOT_TRUSTED = (
    "The connection to Cloudflare is not trusted by this computer, so nothing was sent. In a company's network, its own"
    " certificate may have to be installed on this computer."
)
BROKE = "The connection to Cloudflare broke."
LATE = "Cloudflare did not answer in time."
TOO_LARGE = "Cloudflare sent far more than an answer can hold, so it was not read."
NOT_READABLE = "The service sent an answer that this program cannot read. It was put aside."
SOMETHING_ELSE = (
    "Something other than Cloudflare answered. If this network wants you to sign in first, do so in a browser."
)
ON_THE_WAY = "Cloudflare, or something on the way to it, has a fault just now."
OWN_FAULT = "Cloudflare has a fault of its own just now. The program goes on by itself."
TOO_OFTEN = (
    "Cloudflare was asked too often, by this program or by others with the same account. The program goes on by itself."
)
NO_CAPACITY = "Cloudflare has no capacity for this model just now. The program goes on by itself."
THIS_MINUTE = "Cloudflare takes no more requests in this minute. The program goes on by itself."
DAY_USED_UP = (
    "Today's free neurons are used up. The program goes on by itself with tomorrow's; a paid plan goes on at once."
)
TOKEN = "Cloudflare refused the API token. Sending has stopped; nothing was lost."
NOT_THIS_ACCOUNT = "Cloudflare does not let this API token use the account. Sending has stopped; nothing was lost."
NO_SUCH_PLACE = "Cloudflare does not know this account or this model. Check the account ID and the model's name."
NO_SUCH_MODEL = "Cloudflare has no model of this name. Choose another model."
RETIRED = "Cloudflare has retired this model. Choose another model."
NOT_ACCEPTED = "Cloudflare did not accept the texts as they are. The details hold its reason."
TOO_LONG = "A text is too long for the model. Shorten it, or let long texts be cut off."
TOO_LONG_TOGETHER = "The texts of a request are too long together for the model. Send fewer of them at a time."
BATCH_TOO_LARGE = "The batch is too large for Cloudflare. Send it in smaller batches."
NO_QUEUE = "This model takes no batches at present. The texts can be sent one request at a time instead."
NOTHING_SAID = (
    "Cloudflare says that this model takes no batches at present, and nothing about this one, which it has accepted."
    " Nothing was given up; carry on later to ask again."
)
GONE = (
    "Cloudflare does not know this batch, or no longer. Its results cannot be collected; the batch can be sent again,"
    " which is paid for again."
)
TOOK_TOO_LONG = "The model took too long at Cloudflare, and the work was stopped there."
STOPPED_WAITING = "Cloudflare stopped waiting for the request. The program goes on by itself."
NOT_THIS_MODEL = "This account may not use this model. Choose another model, or another account."
TERMS = "The terms of this model have not been accepted yet. Accept them on Cloudflare's page of the model."
BLOCKED = "Cloudflare has blocked this account. Only its support can help."
PAID_PLAN = "This model needs a paid plan at Cloudflare."
MODEL_FAILED = "The model failed at Cloudflare, and no part of the batch has a result."
NO_GATEWAY = "There is no AI Gateway of this name in the account. Check the gateway's name."
REFUSED = "Cloudflare refused the request. The details hold its reason."


LOST = Ending(BatchState.OUTCOME_UNKNOWN, JobState.OUTCOME_UNKNOWN, (NO_CLEAR_ANSWER,))
GOES_WELL = Ending(BatchState.DONE, JobState.DONE)


def goes_on(*said: str) -> Ending:
    return Ending(BatchState.DONE, JobState.DONE, said)


def fails(*said: str) -> Ending:
    return Ending(BatchState.FAILED, JobState.FAILED, said)


def not_sent(*said: str) -> Ending:
    return Ending(BatchState.PLANNED, JobState.PAUSED, said)


def stays_there(*said: str) -> Ending:
    return Ending(BatchState.QUEUED, JobState.PAUSED, said)


def broken(name: str, fault: Fault, sentence: str = BROKE, *, tls: bool = False) -> Row:
    """A submit's outcome is unknown, a poll is repeated, and a check fails with the sentence."""
    return Row(name, fault, LOST, goes_on(sentence), (Unreachable, sentence), tls=tls)


def not_begun(name: str, fault: Fault, sentence: str) -> Row:
    """The TLS handshake fails, so that no byte of a body was sent."""
    return Row(name, fault, goes_on(sentence), goes_on(sentence), (Unreachable, sentence), tls=True)


CONNECTIONS = [
    Row(
        "nobody listens",
        faults.refuse(),
        not_sent(NOT_REACHED),
        stays_there(NOT_REACHED),
        (Unreachable, NOT_REACHED),
    ),
    broken("stalled at accept", faults.stall_at_accept(seconds=60), LATE),
    broken("garbage for a hello", faults.garbage_hello()),
    broken("reset after the first bytes", faults.reset_after_hello()),
    broken("closed after the first bytes", faults.reset_after_hello(rst=False)),
    not_begun("TLS: reset at accept", faults.reset_at_accept(), NOT_REACHED),
    not_begun("TLS: closed at accept", faults.reset_at_accept(rst=False), NOT_REACHED),
    not_begun("TLS: reset after the hello", faults.reset_after_hello(), NOT_REACHED),
    not_begun("TLS: closed after the hello", faults.reset_after_hello(rst=False), NOT_REACHED),
    not_begun("TLS: garbage for a hello", faults.garbage_hello(), NOT_TRUSTED),
    not_begun("TLS: stalled at accept", faults.stall_at_accept(seconds=60), LATE),
    Row(
        "TLS: a certificate of someone else",
        faults.compressed(),
        not_sent(NOT_TRUSTED),
        not_sent(NOT_TRUSTED),
        (Unreachable, NOT_TRUSTED),
        tls=True,
        trusted=False,
    ),
    broken("TLS: reset after the body", faults.reset_after_body(), tls=True),
    broken("TLS: closed in the reply", faults.reset_in_reply(rst=False), tls=True),
    broken("TLS: a broken record for a reply", faults.break_tls(), tls=True),
]

EXCHANGES = [
    broken("reset after the headers", faults.reset_after_headers()),
    broken("closed after the headers", faults.reset_after_headers(rst=False)),
    broken("reset at byte 1 of the body", faults.reset_in_body(byte=1)),
    broken("reset at byte 100 of the body", faults.reset_in_body(byte=100)),
    broken("closed at byte 100 of the body", faults.reset_in_body(byte=100, rst=False)),
    broken("stalled in the body", faults.stall_in_body(byte=1, seconds=60), LATE),
    broken("reset after the body", faults.reset_after_body()),
    broken("closed after the body", faults.reset_after_body(rst=False)),
    broken("reset at byte 1 of the reply's head", faults.reset_in_reply_headers(byte=1)),
    broken("closed in the reply's head", faults.reset_in_reply_headers(byte=40, rst=False)),
    broken("reset at byte 0 of the reply", faults.reset_in_reply(byte=0)),
    broken("reset in the reply", faults.reset_in_reply(byte=50)),
    broken("closed in the reply", faults.reset_in_reply(byte=50, rst=False)),
    broken("closed before the reply's last byte", faults.reset_in_reply(byte=1 << 20, rst=False)),
    broken("the reply comes too late", faults.stall(seconds=60), LATE),
    broken("the reply stalls in the middle", faults.stall_in_reply(byte=10, seconds=60), LATE),
    broken("the reply drips", faults.drip(seconds=0.05), LATE),
    broken("the reply's head drips", faults.drip(seconds=0.05, part="head"), LATE),
    broken("garbage for a reply", faults.garbage()),
    broken("not the gzip it says it is", faults.bad_gzip()),
    broken("gzip without its end", faults.cut_gzip()),
    broken("an encoding nobody asked for", faults.unknown_encoding()),
    broken("a gzip bomb", faults.gzip_bomb(megabytes=300), TOO_LARGE),
    broken("a reply without end", faults.large_reply(megabytes=300), TOO_LARGE),
    broken("switching protocols", faults.page(status=101)),
    Row("well-formed gzip", faults.compressed(), GOES_WELL, GOES_WELL, None),
    Row("a wrong content type", faults.wrong_type(), GOES_WELL, GOES_WELL, None),
]


def unreadable(name: str, fault: Fault) -> Row:
    return Row(name, fault, LOST, goes_on(NOT_READABLE), (UnreadableReply, NOT_READABLE))


STRANGERS = [
    unreadable("JSON cut at once", faults.cut_reply(byte=0, billed=True)),
    unreadable("JSON cut", faults.cut_reply(byte=20, billed=True)),
    unreadable("garbage for JSON", faults.garbage_body(billed=True)),
    broken("a captive portal", faults.page(), SOMETHING_ELSE),
    broken("a portal that says so", faults.page(status=511), SOMETHING_ELSE),
    broken("a page: forbidden", faults.page(status=403), SOMETHING_ELSE),
    broken("a page: not found", faults.page(status=404), SOMETHING_ELSE),
    broken("a page: too many requests", faults.page(status=429), SOMETHING_ELSE),
    broken("a page: bad gateway", faults.page(status=502), ON_THE_WAY),
    broken("a page: gateway time-out", faults.page(status=504), ON_THE_WAY),
    broken("redirect 301", faults.redirect(status=301), SOMETHING_ELSE),
    broken("redirect 302", faults.redirect(status=302), SOMETHING_ELSE),
    broken("redirect 307", faults.redirect(status=307), SOMETHING_ELSE),
    broken("redirect 308", faults.redirect(status=308), SOMETHING_ELSE),
    broken("redirect without a place", faults.redirect(status=302, location=""), SOMETHING_ELSE),
    broken("401 without the envelope", faults.refusal(status=401, code=10000, envelope=False), SOMETHING_ELSE),
    broken("429 without the envelope", faults.refusal(status=429, envelope=False), SOMETHING_ELSE),
    broken("500 without the envelope", faults.refusal(status=500, envelope=False), ON_THE_WAY),
]


def refusal(
    status: int, code: int, submit: Ending, poll: Ending, kind: type[UserError], sentence: str, message: str = ""
) -> Row:
    name = f"{status}/{code or '-'} {message}".strip()
    return Row(name, faults.refusal(status=status, code=code, message=message), submit, poll, (kind, sentence))


def busy(status: int, code: int, sentence: str) -> Row:
    return refusal(status, code, goes_on(sentence), goes_on(sentence), ServiceBusy, sentence)


def token(status: int, code: int, sentence: str = TOKEN) -> Row:
    return refusal(status, code, not_sent(sentence), stays_there(sentence), TokenRefused, sentence)


def final(status: int, code: int, sentence: str, message: str = "") -> Row:
    """A final refusal of every call."""
    return refusal(status, code, fails(sentence), fails(sentence), ServiceRefused, sentence, message)


def barred(status: int, code: int, sentence: str) -> Row:
    """A submit is refused; a batch that was accepted before stays queued until the user has acted."""
    return refusal(status, code, fails(sentence), stays_there(sentence), ServiceRefused, sentence)


REFUSALS = [
    busy(429, 0, TOO_OFTEN),
    busy(429, 3021, THIS_MINUTE),
    busy(429, 3036, DAY_USED_UP),
    busy(429, 4006, DAY_USED_UP),
    busy(429, 3040, NO_CAPACITY),
    busy(429, 971, TOO_OFTEN),
    Row("blocked", faults.block(), goes_on(TOO_OFTEN), goes_on(TOO_OFTEN), (ServiceBusy, TOO_OFTEN)),
    Row("blocked, told", faults.block(told=True), goes_on(TOO_OFTEN), goes_on(TOO_OFTEN), (ServiceBusy, TOO_OFTEN)),
    token(401, 10000),
    token(403, 10000),
    token(400, 1000),
    token(400, 9106),
    token(403, 0, NOT_THIS_ACCOUNT),
    barred(404, 7000, NO_SUCH_PLACE),
    barred(404, 7003, NO_SUCH_PLACE),
    barred(400, 5007, NO_SUCH_MODEL),
    barred(404, 3042, NO_SUCH_MODEL),
    barred(410, 5028, RETIRED),
    barred(403, 5018, NOT_THIS_MODEL),
    barred(403, 3041, NOT_THIS_MODEL),
    barred(403, 5016, TERMS),
    barred(403, 3023, BLOCKED),
    barred(403, 5035, PAID_PLAN),
    barred(400, 2001, NO_GATEWAY),
    barred(400, 0, REFUSED),
    barred(418, 1234, REFUSED),
    refusal(
        400,
        8007,
        fails(NO_QUEUE),
        stays_there(NOTHING_SAID),
        QueueNotSupported,
        NO_QUEUE,
        "This model does not support request queuing",
    ),
    final(400, 5006, NOT_ACCEPTED),
    final(400, 3030, NOT_ACCEPTED),
    final(400, 5004, NOT_ACCEPTED),
    final(400, 3003, NOT_ACCEPTED),
    final(400, 3030, TOO_LONG, "AiError: Sequence too long: 9000 > 8192"),
    final(400, 3030, TOO_LONG_TOGETHER, "Max context reached 70000 tokens but model supports only 60000"),
    final(413, 3006, BATCH_TOO_LARGE),
    refusal(400, 5504, fails(GONE), Ending(BatchState.GONE, JobState.FAILED, (GONE,)), RequestGone, GONE),
    refusal(408, 3007, LOST, goes_on(TOOK_TOO_LONG), ServiceRefused, TOOK_TOO_LONG),
    refusal(408, 3008, LOST, goes_on(TOOK_TOO_LONG), ServiceRefused, TOOK_TOO_LONG),
    refusal(408, 3046, LOST, goes_on(TOOK_TOO_LONG), ServiceRefused, TOOK_TOO_LONG),
    refusal(408, 0, LOST, goes_on(STOPPED_WAITING), ServiceBusy, STOPPED_WAITING),
    refusal(409, 0, LOST, stays_there(REFUSED), ServiceRefused, REFUSED),
    refusal(500, 5001, LOST, fails(MODEL_FAILED), ServiceRefused, MODEL_FAILED),
    refusal(500, 0, LOST, goes_on(OWN_FAULT), ServiceBusy, OWN_FAULT),
    refusal(503, 1234, LOST, goes_on(OWN_FAULT), ServiceBusy, OWN_FAULT),
    refusal(200, 1234, LOST, stays_there(REFUSED), ServiceRefused, REFUSED),
]

ROWS = [*CONNECTIONS, *EXCHANGES, *STRANGERS, *REFUSALS]
