"""Expected failures, each with a sentence for the user and at most one action to offer.

UserError
├── InputError                 the file or its columns
│   └── EncodingUnknown        not as guessed, or another reading is as likely: the user must choose
├── UsageError                 a request or an option that cannot be carried out
├── OverBudget                 the job may cost more than the user allows
├── DataError                  the program's own folder: locked, damaged, or written by a newer program
│   ├── DataInUse              another process has the ledger open
│   ├── DataReadOnly
│   ├── LocksUnsupported       its file system cannot keep a second writer out
│   ├── DiskFull
│   └── LedgerDamaged
├── ExportError                a file that could not be written or read back
├── ConnectionProblem          the connection, not the service's answer to the request
│   ├── NotConnected           no account id or no token
│   │   ├── KeyringUnavailable the token may be in a keyring that is locked, or does not answer
│   │   └── WrongAccount       an account other than the one that the batch was sent with
│   ├── TokenRefused           all sending stops until the user has acted
│   └── Unreachable            no network, no such host, TLS not trusted
├── ServiceRefused             the service refused the request and gave a reason
│   ├── ServiceBusy            a temporary refusal, with the time to wait
│   ├── QueueNotSupported      this model takes no batches
│   └── RequestGone            the service does not know this request id
├── OutcomeUnknown             a batch was sent, no answer was received; sent again only if the user decides so
└── ReplyError                 an answer that violates the protocol; the batch is put aside
    ├── ForeignReply           an answer that is, or may be, that of another batch
    └── UnreadableReply        an answer that cannot be read or used: another poll may return one that can

`cli.exit_status` has the exit status of each. An exception that is not a UserError is a bug and is not caught.
"""

from enum import StrEnum


class Action(StrEnum):
    """The action that a user interface offers with an error's sentence, as a button or in words."""

    NONE = "none"
    RETRY = "retry"
    OPEN_CONNECTION = "open_connection"
    UNLOCK = "unlock"
    SHOW_FILE = "show_file"
    CHOOSE_FILE = "choose_file"
    CHOOSE_ENCODING = "choose_encoding"
    SMALLER_BATCHES = "smaller_batches"
    SEND_AGAIN = "send_again"
    RUN_SYNCHRONOUSLY = "run_at_once"
    WAIT = "wait"


class UserError(Exception):
    """The base class of expected failures.

    `message` is shown to the user unchanged. `detail` is for the log and "Copy details": the service's own message, a
    path, a code; never a token.
    """

    action: Action = Action.NONE

    def __init__(self, message: str, *, detail: str = "", action: Action | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        if action is not None:
            self.action = action


class InputError(UserError):
    """A file that cannot be read with the given settings."""

    action = Action.CHOOSE_FILE


class EncodingUnknown(InputError):
    """A file is not in the encoding that it was taken for, or its texts differ under another that is as likely.

    `guess` is a Python codec name to preselect, `others` are about as likely, `file_name` is without its folder.
    """

    action = Action.CHOOSE_ENCODING

    def __init__(
        self, message: str, *, file_name: str, guess: str, others: tuple[str, ...] = (), detail: str = ""
    ) -> None:
        super().__init__(message, detail=detail)
        self.file_name = file_name
        self.guess = guess
        self.others = others


class UsageError(UserError):
    """A request that cannot be carried out: an unknown job, a role without a column, a wrong option."""


class OverBudget(UserError):
    """A job that may cost more than the user's budget allows without asking."""


class DataError(UserError):
    """The program's own folder cannot be used: in use elsewhere, damaged, or newer than this program."""


class DataInUse(DataError):
    """Another process has the data folder open for writing."""


class DataReadOnly(DataError):
    """Nothing can be written in the data folder: its file system is mounted so, or the user may not."""


class LocksUnsupported(DataError):
    """The file system of the data folder has no file locks, so a second writer could not be kept out."""


class DiskFull(DataError):
    """The disk is full. The earlier content of the file is intact."""

    action = Action.RETRY


class LedgerDamaged(DataError):
    """The ledger is damaged. It can be rebuilt from the jobs' folders."""


class ExportError(UserError):
    """A file could not be written completely. An earlier file of that name is unchanged."""

    action = Action.RETRY


class ConnectionProblem(UserError):
    """A failure of the connection, as opposed to the service's answer to a request."""

    action = Action.OPEN_CONNECTION


class NotConnected(ConnectionProblem):
    """There is no token or no account id for the connection."""


class KeyringUnavailable(NotConnected):
    """The keyring has not said whether it has a token: it is locked, does not answer or cannot be used.

    Nothing is lost; what waited for the token goes on once the keyring has answered.
    """

    action = Action.UNLOCK


class WrongAccount(NotConnected):
    """A batch belongs to an account other than the one that its connection now has."""


class TokenRefused(ConnectionProblem):
    """The service refused the token (such as with code 10000). All sending stops until the user has acted.

    `code` is the service's error code, `status` the HTTP status; 0 when not known.
    """

    def __init__(self, message: str, *, detail: str = "", code: int = 0, status: int = 0) -> None:
        super().__init__(message, detail=detail)
        self.code, self.status = code, status


class Unreachable(ConnectionProblem):
    """No byte of a request's body was sent: unknown host, no connection, or a failed TLS handshake."""

    action = Action.RETRY


class ServiceRefused(UserError):
    """The service refused a request in its own envelope. `code` is its error code, 0 when it gave none."""

    def __init__(self, message: str, *, detail: str = "", code: int = 0, action: Action | None = None) -> None:
        super().__init__(message, detail=detail, action=action)
        self.code = code


class ServiceBusy(ServiceRefused):
    """A temporary refusal. `retry_after` is in seconds from the moment of the answer."""

    action = Action.WAIT

    def __init__(self, message: str, *, retry_after: float, detail: str = "", code: int = 0) -> None:
        super().__init__(message, detail=detail, code=code)
        self.retry_after = retry_after


class QueueNotSupported(ServiceRefused):
    """The model takes no batches (code 8007)."""

    action = Action.RUN_SYNCHRONOUSLY


class RequestGone(ServiceRefused):
    """The service does not know this request id, or no longer knows it (code 5504)."""

    action = Action.SEND_AGAIN


class OutcomeUnknown(UserError):
    """A batch was sent at least in part, and no readable answer was received: it may have been accepted and billed."""


class ReplyError(UserError):
    """An answer that violates the protocol: a row is missing, repeated, of another length or of another job."""


class ForeignReply(ReplyError):
    """An answer that names another batch, or lacks the references that show which one it is of."""


class UnreadableReply(ReplyError):
    """A complete answer in the service's own envelope that cannot be read, or is not that of the batch.

    `raw` is its body.
    """

    def __init__(self, message: str, *, raw: bytes, detail: str = "") -> None:
        super().__init__(message, detail=detail)
        self.raw = raw
