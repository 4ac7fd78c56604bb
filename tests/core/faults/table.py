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
from cfbatch_gui.core.practice.faults import script
from cfbatch_gui.core.practice.faults.script import AnyFault


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
    fault: AnyFault
    submit: Ending
    poll: Ending
    check: tuple[type[UserError], str] | None
    tls: bool = False
    trusted: bool = True

    @property
    def has_twins(self) -> bool:
        """Whether the outcome of a submit is unknown both when the service accepted it and when it did not."""
        return isinstance(self.fault, script.TwinFault) and self.submit is LOST


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


def broken(name: str, fault: AnyFault, sentence: str = BROKE, *, tls: bool = False) -> Row:
    """A submit's outcome is unknown, a poll is repeated, and a check fails with the sentence."""
    return Row(name, fault, LOST, goes_on(sentence), (Unreachable, sentence), tls=tls)


def not_begun(name: str, fault: AnyFault, sentence: str) -> Row:
    """The TLS handshake fails, so that no byte of a body was sent."""
    return Row(name, fault, goes_on(sentence), goes_on(sentence), (Unreachable, sentence), tls=True)


CONNECTIONS = [
    Row(
        "nobody listens",
        script.Refuse(),
        not_sent(NOT_REACHED),
        stays_there(NOT_REACHED),
        (Unreachable, NOT_REACHED),
    ),
    broken("stalled at accept", script.StallAtAccept(seconds=60), LATE),
    broken("garbage for a hello", script.GarbageHello()),
    broken("reset after the first bytes", script.ResetAfterHello()),
    broken("closed after the first bytes", script.ResetAfterHello(rst=False)),
    not_begun("TLS: reset at accept", script.ResetAtAccept(), NOT_REACHED),
    not_begun("TLS: closed at accept", script.ResetAtAccept(rst=False), NOT_REACHED),
    not_begun("TLS: reset after the hello", script.ResetAfterHello(), NOT_REACHED),
    not_begun("TLS: closed after the hello", script.ResetAfterHello(rst=False), NOT_REACHED),
    not_begun("TLS: garbage for a hello", script.GarbageHello(), NOT_TRUSTED),
    not_begun("TLS: stalled at accept", script.StallAtAccept(seconds=60), LATE),
    Row(
        "TLS: a certificate of someone else",
        script.Gzip(),
        not_sent(NOT_TRUSTED),
        not_sent(NOT_TRUSTED),
        (Unreachable, NOT_TRUSTED),
        tls=True,
        trusted=False,
    ),
    broken("TLS: reset after the body", script.ResetAfterBody(), tls=True),
    broken("TLS: closed in the reply", script.ResetInReply(rst=False), tls=True),
    broken("TLS: a broken record for a reply", script.BreakTls(), tls=True),
]

EXCHANGES = [
    broken("reset after the headers", script.ResetAfterHeaders()),
    broken("closed after the headers", script.ResetAfterHeaders(rst=False)),
    broken("reset at byte 1 of the body", script.ResetInBody(byte=1)),
    broken("reset at byte 100 of the body", script.ResetInBody(byte=100)),
    broken("closed at byte 100 of the body", script.ResetInBody(byte=100, rst=False)),
    broken("stalled in the body", script.StallInBody(byte=1, seconds=60), LATE),
    broken("reset after the body", script.ResetAfterBody()),
    broken("closed after the body", script.ResetAfterBody(rst=False)),
    broken("reset at byte 1 of the reply's head", script.ResetInReplyHeaders(byte=1)),
    broken("closed in the reply's head", script.ResetInReplyHeaders(byte=40, rst=False)),
    broken("reset at byte 0 of the reply", script.ResetInReply(byte=0)),
    broken("reset in the reply", script.ResetInReply(byte=50)),
    broken("closed in the reply", script.ResetInReply(byte=50, rst=False)),
    broken("closed before the reply's last byte", script.ResetInReply(byte=1 << 20, rst=False)),
    broken("the reply comes too late", script.Stall(seconds=60), LATE),
    broken("the reply stalls in the middle", script.StallInReply(byte=10, seconds=60), LATE),
    broken("the reply drips", script.Drip(seconds=0.05), LATE),
    broken("the reply's head drips", script.Drip(seconds=0.05, part="head"), LATE),
    broken("garbage for a reply", script.Garbage()),
    broken("not the gzip it says it is", script.BadGzip()),
    broken("gzip without its end", script.CutGzip()),
    broken("an encoding nobody asked for", script.UnknownEncoding()),
    broken("a gzip bomb", script.GzipBomb(megabytes=300), TOO_LARGE),
    broken("a reply without end", script.LargeReply(megabytes=300), TOO_LARGE),
    broken("switching protocols", script.Page(status=101)),
    Row("well-formed gzip", script.Gzip(), GOES_WELL, GOES_WELL, None),
    Row("a wrong content type", script.WrongType(), GOES_WELL, GOES_WELL, None),
]


def unreadable(name: str, fault: AnyFault) -> Row:
    return Row(name, fault, LOST, goes_on(NOT_READABLE), (UnreadableReply, NOT_READABLE))


STRANGERS = [
    unreadable("JSON cut at once", script.CutReply(byte=0, billed=True)),
    unreadable("JSON cut", script.CutReply(byte=20, billed=True)),
    unreadable("garbage for JSON", script.Garbage(part="body", billed=True)),
    broken("a captive portal", script.Page(), SOMETHING_ELSE),
    broken("a portal that says so", script.Page(status=511), SOMETHING_ELSE),
    broken("a page: forbidden", script.Page(status=403), SOMETHING_ELSE),
    broken("a page: not found", script.Page(status=404), SOMETHING_ELSE),
    broken("a page: too many requests", script.Page(status=429), SOMETHING_ELSE),
    broken("a page: bad gateway", script.Page(status=502), ON_THE_WAY),
    broken("a page: gateway time-out", script.Page(status=504), ON_THE_WAY),
    broken("redirect 301", script.Redirect(status=301), SOMETHING_ELSE),
    broken("redirect 302", script.Redirect(status=302), SOMETHING_ELSE),
    broken("redirect 307", script.Redirect(status=307), SOMETHING_ELSE),
    broken("redirect 308", script.Redirect(status=308), SOMETHING_ELSE),
    broken("redirect without a place", script.Redirect(status=302, location=""), SOMETHING_ELSE),
    broken("401 without the envelope", script.Refusal(status=401, code=10000, envelope=False), SOMETHING_ELSE),
    broken("429 without the envelope", script.Refusal(status=429, envelope=False), SOMETHING_ELSE),
    broken("500 without the envelope", script.Refusal(status=500, envelope=False), ON_THE_WAY),
]


def refusal(
    status: int, code: int, submit: Ending, poll: Ending, kind: type[UserError], sentence: str, message: str = ""
) -> Row:
    name = f"{status}/{code or '-'} {message}".strip()
    return Row(name, script.Refusal(status=status, code=code, message=message), submit, poll, (kind, sentence))


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
    Row("blocked", script.Block(), goes_on(TOO_OFTEN), goes_on(TOO_OFTEN), (ServiceBusy, TOO_OFTEN)),
    Row("blocked, told", script.Block(told=True), goes_on(TOO_OFTEN), goes_on(TOO_OFTEN), (ServiceBusy, TOO_OFTEN)),
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
