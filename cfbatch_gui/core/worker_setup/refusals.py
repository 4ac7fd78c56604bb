"""What a refusal of each call means: the user's sentence, and where in the dashboard it is put right.

Codes are those that wrangler goes by (its source: `routes.ts`, `deploy/check-workflow-conflicts.ts`) or that its users
were shown; docs/decisions/setting-up-by-api.md has them with their sources.
"""

from collections.abc import Sequence
from typing import Final

from cfbatch_gui.core.errors import ServiceBusy, ServiceRefused, TokenRefused, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.worker_setup.account_calls import Call, Step
from cfbatch_gui.core.workers_ai.refusals import refusal, without_going_on
from cfbatch_gui.core.workers_ai.wire.envelope import ServiceError

_R2_NOT_ACTIVATED: Final = 10042
_ADDRESS_NEEDED: Final = 10063  # an upload to an account that has no address at workers.dev
_NOT_THERE: Final = {
    Step.READ_ADDRESS: 10007,
    Step.READ_WORKER: 10007,
    Step.READ_WORKFLOW: 10200,
    Step.READ_BUCKET: 10006,
    Step.DELETE_WORKER: 10007,
    Step.DELETE_WORKFLOW: 10200,
    Step.LIST_ANSWERS: 10006,
    Step.DELETE_ANSWER: 10007,
    Step.DELETE_BUCKET: 10006,
}
_WRONG_ACCOUNT: Final = frozenset({7000, 7003})  # no such address: the account's id is in each
_BUCKET_NOT_SEEN: Final = 10085  # by an upload, for some seconds after the bucket was made
_BUCKET_WAIT: Final = 2.0


class NotThere(ServiceRefused):
    """What a call was about is not in the account."""


class StorageNotActivated(ServiceRefused):
    """R2 has to be activated once in an account, by hand."""


class AddressMissing(ServiceRefused):
    """The account has no address at workers.dev yet, which the dashboard gives it."""


def refusal_of(
    call: Call,
    status: int,
    errors: Sequence[ServiceError],
    retry_after: str = "",
    *,
    now: float,
    service: str,
) -> UserError:
    """The error for a refusal of a call. Raises nothing."""
    codes = {error.code for error in errors}
    usual = refusal(status, errors, retry_after, now=now, service=service)
    detail, code = usual.detail, next((error.code for error in errors if error.code), 0)
    if _R2_NOT_ACTIVATED in codes:
        return StorageNotActivated(
            message(
                "R2 is not activated in this account. Open R2 Object Storage in the dashboard once and activate it: it"
                " asks for a means of payment, and the first 10 GB a month are free."
            ),
            detail=detail,
            code=code,
        )
    if _ADDRESS_NEEDED in codes or (call.step is Step.READ_ADDRESS and _NOT_THERE[call.step] in codes):
        return no_address(detail, code)
    if call.step in _NOT_THERE and not codes & _WRONG_ACCOUNT and (status == 404 or _NOT_THERE[call.step] in codes):
        return NotThere(message("It is not there."), detail=detail, code=code)
    if isinstance(usual, TokenRefused) or status in (401, 403):
        return TokenRefused(_lacking(call, service), detail=detail, code=code, status=status)
    if _BUCKET_NOT_SEEN in codes:
        unseen = message("{service} does not see the new bucket yet.", service=service)
        return ServiceBusy(unseen, retry_after=_BUCKET_WAIT, detail=detail, code=code)
    if isinstance(usual, ServiceBusy):
        alone = without_going_on(usual.message)
        return ServiceBusy(alone, retry_after=usual.retry_after, detail=detail, code=code)
    if codes & _WRONG_ACCOUNT:
        unknown = message("{service} does not know this account. Check the account ID.", service=service)
        return ServiceRefused(unknown, detail=detail, code=code)
    if call.step is Step.DELETE_BUCKET and status == 409:
        return ServiceRefused(
            message(
                "The bucket was kept: R2 deletes only empty ones, and this one has something in it that is not this"
                " program's, or an upload under way. Empty it in the dashboard, then take it away again."
            ),
            detail=detail,
            code=code,
        )
    return ServiceRefused(
        message("{service} refused “{call}”. The details hold its reason.", service=service, call=call.words),
        detail=detail,
        code=code,
    )


def no_address(detail: str = "", code: int = 0) -> AddressMissing:
    """The error for an account without an address at workers.dev."""
    return AddressMissing(
        message(
            "The account has no address at workers.dev yet. Open Workers & Pages in the dashboard once: it gives the"
            " account one."
        ),
        detail=detail,
        code=code,
    )


def token_not_valid(error: TokenRefused, service: str) -> TokenRefused:
    """The error for a token that was refused, and of which the service says that it is not valid."""
    sentence = message(
        "{service} does not know this token for this account, or no longer: it was deleted, has expired, was not copied"
        " whole, or is for another account. Make a new one.",
        service=service,
    )
    return TokenRefused(sentence, detail=error.detail, code=error.code, status=error.status)


def _lacking(call: Call, service: str) -> str:
    return message(
        "{service} does not let this token make the call “{call}”: it needs the permission {permission} for this"
        " account. Make a new token with it.",
        service=service,
        call=call.words,
        permission=call.permission,
    )
