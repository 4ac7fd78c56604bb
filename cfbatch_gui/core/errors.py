"""Expected failures, each with a sentence for the user and at most one action to offer.

An exception that is not a UserError is a bug and is not caught.
"""

from enum import StrEnum


class Action(StrEnum):
    """The action that a user interface offers with an error's sentence."""

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


class UserError(Exception):
    """The base class of expected failures; `message` is shown to the user unchanged.

    `detail` is for the log and "Copy details": the service's own message, a path, a code; never a token. `code` is the
    service's number of the error, 0 without one.
    """

    action: Action = Action.NONE

    def __init__(self, message: str, *, detail: str = "", action: Action | None = None, code: int = 0) -> None:
        super().__init__(message)
        self.message, self.detail, self.code = message, detail, code
        if action is not None:
            self.action = action


class InputError(UserError):
    """A file that cannot be read with the given settings."""

    action = Action.CHOOSE_FILE


class EncodingUnknown(InputError):
    """`guess` is a Python codec name to preselect, `others` are about as likely."""

    action = Action.CHOOSE_ENCODING

    def __init__(
        self, message: str, *, file_name: str, guess: str, others: tuple[str, ...] = (), detail: str = ""
    ) -> None:
        super().__init__(message, detail=detail)
        self.file_name, self.guess, self.others = file_name, guess, others


class UsageError(UserError):
    """A request or an option that cannot be carried out."""


class OverBudget(UserError):
    """The job may cost more than the user allows."""


class DataError(UserError):
    """The program's own folder cannot be used."""


class DataInUse(DataError):
    """Another process has the ledger open for writing."""


class DiskFull(DataError):
    """The disk is full. The earlier content of the file is intact."""

    action = Action.RETRY


class LedgerDamaged(DataError):
    """The ledger is damaged. It can be rebuilt from the jobs' folders."""


class ExportError(UserError):
    """A file could not be written completely; an earlier file of that name is unchanged."""

    action = Action.RETRY


class ConnectionProblem(UserError):
    """The connection failed, not the service's answer to the request."""

    action = Action.OPEN_CONNECTION


class NotConnected(ConnectionProblem):
    """There is no token or no account id."""


class KeyringUnavailable(NotConnected):
    """The token may be in a keyring that is locked, or does not answer."""

    action = Action.UNLOCK


class WrongAccount(NotConnected):
    """The batch was sent with an account other than the connection's."""


class TokenRefused(ConnectionProblem):
    """`status` is the HTTP status, 0 when not known."""

    def __init__(self, message: str, *, detail: str = "", code: int = 0, status: int = 0) -> None:
        super().__init__(message, detail=detail, code=code)
        self.status = status


class Unreachable(ConnectionProblem):
    """No byte of a request's body was sent."""

    action = Action.RETRY


class ServiceRefused(UserError):
    """The service said no to a request."""


class TooManyTexts(ServiceRefused):
    """A request holds more texts than the model takes at a time."""

    action = Action.SMALLER_BATCHES


class ServiceBusy(ServiceRefused):
    """`retry_after` is in seconds from the moment of the answer."""

    def __init__(self, message: str, *, retry_after: float, detail: str = "", code: int = 0) -> None:
        super().__init__(message, detail=detail, code=code)
        self.retry_after = retry_after


class QueueNotSupported(ServiceRefused):
    """The model takes no batches (code 8007)."""

    action = Action.RUN_SYNCHRONOUSLY


class RequestGone(ServiceRefused):
    """The service does not know this request id (code 5504)."""

    action = Action.SEND_AGAIN


class OutcomeUnknown(UserError):
    """A batch was sent at least in part, without a readable answer: it may have been accepted and billed."""


class ReplyError(UserError):
    """An answer that violates the protocol; the batch is put aside."""


class ForeignReply(ReplyError):
    """An answer that is, or may be, that of another batch."""


class UnreadableReply(ReplyError):
    """`raw` is the answer's body."""

    def __init__(self, message: str, *, raw: bytes, detail: str = "") -> None:
        super().__init__(message, detail=detail)
        self.raw = raw
