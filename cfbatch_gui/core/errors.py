"""Expected failures, each with a sentence for the user and one thing to do.

UserError
├── InputError                 the file or its columns
│   └── EncodingUnknown        neither marked nor valid UTF-8: the user must say
├── UsageError                 what was asked for cannot be done that way
├── OverBudget                 it may cost more than the user allows
├── DataError                  our own folder: locked, damaged, newer than this program
│   ├── DiskFull
│   └── LedgerDamaged
├── ExportError                a file that could not be written or read back
├── ConnectionProblem          the way to the service, not its answer
│   ├── NotConnected           no account, no token
│   │   └── WrongAccount       … or not the one that a batch was sent with
│   ├── TokenRefused           everything stops until the user has acted
│   └── Unreachable            no network, no such host, TLS not trusted
├── ServiceRefused             the service said no, with its reason
│   ├── ServiceBusy            … for now; says how long to wait
│   ├── QueueNotSupported      … this model takes no batches
│   └── RequestGone            … it does not know this request id
├── OutcomeUnknown             a batch was sent, its answer was not seen; never sent again unless the user says so
└── ReplyError                 an answer that breaks the protocol; the batch is put aside
    └── UnreadableReply        … as a whole, so that asking again may help

`cli.exit_status` has the exit status of each. Anything that is not a UserError is a bug and is not caught.
"""

from enum import StrEnum


class Action(StrEnum):
    """The one button beside an error's sentence; the user interface turns it into words."""

    NONE = "none"
    RETRY = "retry"
    OPEN_CONNECTION = "open_connection"
    SHOW_FILE = "show_file"
    CHOOSE_FILE = "choose_file"
    CHOOSE_ENCODING = "choose_encoding"
    SMALLER_BATCHES = "smaller_batches"
    SEND_AGAIN = "send_again"
    RUN_SYNCHRONOUSLY = "run_at_once"
    WAIT = "wait"


class UserError(Exception):
    """An expected failure.

    `message` is shown as it stands. `detail` is for the log and "Copy details": the service's own
    words, a path, a code; never a token.
    """

    action: Action = Action.NONE

    def __init__(self, message: str, *, detail: str = "", action: Action | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        if action is not None:
            self.action = action


class InputError(UserError):
    """A file cannot be read as asked."""

    action = Action.CHOOSE_FILE


class EncodingUnknown(InputError):
    """Neither a byte order mark nor valid UTF-8. `guess` is a Python codec name to preselect."""

    action = Action.CHOOSE_ENCODING

    def __init__(self, message: str, *, guess: str, detail: str = "") -> None:
        super().__init__(message, detail=detail)
        self.guess = guess


class UsageError(UserError):
    """What was asked for does not fit: an unknown job, a role without a column, a wrong option."""


class OverBudget(UserError):
    """It may cost more than the user allows without being asked."""


class DataError(UserError):
    """The program's own folder cannot be used: in use elsewhere, damaged, or newer than this program."""


class DiskFull(DataError):
    """No space left; what was there before is intact."""

    action = Action.RETRY


class LedgerDamaged(DataError):
    """The list of jobs cannot be trusted; it can be put together again from the jobs' folders."""


class ExportError(UserError):
    """A file could not be written whole; nothing stands under its final name that was not there before."""

    action = Action.RETRY


class ConnectionProblem(UserError):
    """The way to the service, not the service's answer to the request."""

    action = Action.OPEN_CONNECTION


class NotConnected(ConnectionProblem):
    """There is no token or no account id for the connection."""


class WrongAccount(NotConnected):
    """A batch belongs to another account than the one that its connection has now."""


class TokenRefused(ConnectionProblem):
    """The service refused the token (codes 10000, 1000, 9106). Stop everything until the user has acted.

    `code` is the service's, `status` HTTP's; 0 when not known.
    """

    def __init__(self, message: str, *, detail: str = "", code: int = 0, status: int = 0) -> None:
        super().__init__(message, detail=detail)
        self.code, self.status = code, status


class Unreachable(ConnectionProblem):
    """No byte of a request's body left this computer: no name, no connection, no trusted handshake."""

    action = Action.RETRY


class ServiceRefused(UserError):
    """The service answered with its own envelope and said no. `code` is its code, 0 when it gave none."""

    def __init__(self, message: str, *, detail: str = "", code: int = 0, action: Action | None = None) -> None:
        super().__init__(message, detail=detail, action=action)
        self.code = code


class ServiceBusy(ServiceRefused):
    """Not accepted for now. `retry_after` is in seconds from the moment of the answer."""

    action = Action.WAIT

    def __init__(self, message: str, *, retry_after: float, detail: str = "", code: int = 0) -> None:
        super().__init__(message, detail=detail, code=code)
        self.retry_after = retry_after


class QueueNotSupported(ServiceRefused):
    """The model takes no batches (code 8007)."""

    action = Action.RUN_SYNCHRONOUSLY


class RequestGone(ServiceRefused):
    """The service does not know this request id, or no longer (code 5504)."""

    action = Action.SEND_AGAIN


class OutcomeUnknown(UserError):
    """At least one byte of a batch's body left, and no readable answer came: it may have been accepted and billed."""


class ReplyError(UserError):
    """An answer that breaks the protocol: a row missing, repeated, of another length, another job's."""


class UnreadableReply(ReplyError):
    """A whole answer in the service's own form that cannot be read. `raw` is its body."""

    def __init__(self, message: str, *, raw: bytes, detail: str = "") -> None:
        super().__init__(message, detail=detail)
        self.raw = raw
