"""The service's refusals of calls to Vectorize: for each the user's sentence.

Codes: https://developers.cloudflare.com/vectorize/reference/client-api/ names none, so that the HTTP status decides;
of the codes, those of Cloudflare's whole API are known (10000: the token lacks a permission, or is not valid).
"""

from collections.abc import Sequence
from typing import Final

from cfbatch_gui.core.errors import Action, ServiceBusy, ServiceRefused, TokenRefused, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.refusals import refusal
from cfbatch_gui.core.workers_ai.wire.envelope import ServiceError

READ_PERMISSION: Final = "Vectorize Read"
WRITE_PERMISSION: Final = "Vectorize Write"

_BUSY: Final = message("{service} takes no more calls to Vectorize just now.")
_OFTEN: Final = message("{service} was asked too often, by this program or by others with the same account.")
_FAULT: Final = message("{service} has a fault of its own just now.")


class IndexMissing(ServiceRefused):
    """There is no index of this name in the account."""


def refusal_of(
    index: str,
    permission: str,
    status: int,
    errors: Sequence[ServiceError],
    retry_after: str = "",
    *,
    now: float,
    service: str,
) -> UserError:
    """The error for a refusal; `index` is the name of the index that the call was about, "" for none of them,
    `permission` what the token needs for the call.
    """
    usual = refusal(status, errors, retry_after, now=now, service=service)
    match usual:
        case TokenRefused():
            return TokenRefused(
                message(
                    "{service} does not let this API token use Vectorize. Edit the token in the dashboard: it needs "
                    "the permission {permission}, for this account. What was sent before is kept.",
                    service=service,
                    permission=permission,
                ),
                detail=usual.detail,
                code=usual.code,
                status=usual.status,
            )
        case ServiceBusy():
            sentence = _OFTEN if status == 429 else _FAULT if status >= 500 else _BUSY
            return ServiceBusy(
                sentence.filled(service=service), retry_after=usual.retry_after, detail=usual.detail, code=usual.code
            )
        case _:
            return _final(index, status, usual, service)


def _final(index: str, status: int, usual: UserError, service: str) -> ServiceRefused:
    code = usual.code if isinstance(usual, ServiceRefused) else 0
    if status in (404, 410) and index:
        return IndexMissing(
            message("There is no index “{index}” in the account. Choose another one, or create it.", index=index),
            detail=usual.detail,
            code=code,
        )
    if status == 404:
        return ServiceRefused(
            message("{service} does not know this account. Check the account ID.", service=service),
            detail=usual.detail,
            code=code,
            action=Action.OPEN_CONNECTION,
        )
    if status == 409:
        return ServiceRefused(
            message("There is an index of this name already. Choose it, or another name."),
            detail=usual.detail,
            code=code,
        )
    if status == 413:
        return ServiceRefused(
            message("A part of the vectors is too large for {service}. It took nothing of it.", service=service),
            detail=usual.detail,
            code=code,
        )
    return ServiceRefused(
        message("{service} refused what it was asked about Vectorize. The details hold its reason.", service=service),
        detail=usual.detail,
        code=code,
    )
