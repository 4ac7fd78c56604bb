"""The service's refusals of calls to Vectorize: for each the user's sentence.

No page lists Vectorize's codes. Those that are known were met by other programs; docs/vectorize.md has them. They are
of their own: 3006, say, is another refusal of Workers AI. Codes of Cloudflare's whole API, such as 10000 for a token
without a permission, mean here what they mean there.
"""

from collections.abc import Sequence
from typing import Final

from cfbatch_gui.core.errors import Action, ServiceBusy, ServiceRefused, TokenRefused, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.refusals import read_retry_after, refusal
from cfbatch_gui.core.workers_ai.wire.envelope import ServiceError

READ_PERMISSION: Final = "Vectorize Read"
WRITE_PERMISSION: Final = "Vectorize Write"
TOKENS_PAGE: Final = "https://dash.cloudflare.com/profile/api-tokens"

_OF_VECTORIZE: Final = frozenset(range(3_000, 4_000)) | frozenset(range(40_000, 41_000)) | {1005}

# Too many requests to one index. It comes with HTTP 429 or 400. Programs that meet it wait 15 seconds.
_TOO_MANY_REQUESTS: Final = 40041
_TOO_MANY_REQUESTS_WAIT: Final = 15.0

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
    general = [each for each in errors if each.code not in _OF_VECTORIZE]
    usual = refusal(status, general, retry_after, now=now, service=service)
    own = next((each for each in errors if each.code in _OF_VECTORIZE), None)
    if own is not None and own.code == _TOO_MANY_REQUESTS:
        asked = read_retry_after(retry_after, now)
        seconds = _TOO_MANY_REQUESTS_WAIT if asked is None else asked
        sentence = _OFTEN.filled(service=service)
        return ServiceBusy(sentence, retry_after=seconds, detail=_detail(status, own), code=own.code)
    if own is not None and not isinstance(usual, ServiceBusy):
        return _by_code(index, status, own)
    match usual:
        case TokenRefused():
            return TokenRefused(
                message(
                    "{service} does not let this API token use Vectorize. Edit it at {page}: it needs the permission "
                    "{permission}, for this account. What was sent before is kept.",
                    page=TOKENS_PAGE,
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


def _by_code(index: str, status: int, error: ServiceError) -> ServiceRefused:
    """The error for a code of Vectorize's own."""
    detail = _detail(status, error)
    match error.code:
        case 3000 | 3005:
            return _missing(index, detail, error.code)
        case 3002:
            return ServiceRefused(
                message("There is an index “{index}” already. Choose it, or another name.", index=index or "?"),
                detail=detail,
                code=error.code,
            )
        case 40006 | 40012:
            sentence = message(
                "The vectors have another length than those of the index. Nothing of this part was taken."
            )
            return ServiceRefused(sentence, detail=detail, code=error.code)
        case _:
            sentence = message("Vectorize refused this as it is, and took nothing of it. The details hold its reason.")
            return ServiceRefused(sentence, detail=detail, code=error.code)


def _detail(status: int, error: ServiceError) -> str:
    return f"HTTP {status}, code {error.code}: {error.message}"


def _missing(index: str, detail: str, code: int) -> IndexMissing:
    return IndexMissing(
        message("There is no index “{index}” in the account. Choose another one, or create it.", index=index),
        detail=detail,
        code=code,
    )


def _final(index: str, status: int, usual: UserError, service: str) -> ServiceRefused:
    code = usual.code if isinstance(usual, ServiceRefused) else 0
    if status in (404, 410) and index:
        return _missing(index, usual.detail, code)
    if status == 404:
        return ServiceRefused(
            message("{service} does not know this account. Check the account ID.", service=service),
            detail=usual.detail,
            code=code,
            action=Action.OPEN_CONNECTION,
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
