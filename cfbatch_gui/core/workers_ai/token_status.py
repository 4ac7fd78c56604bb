"""What Cloudflare says of a token itself.

Source: https://developers.cloudflare.com/api/resources/user/subresources/tokens/methods/verify/
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from cfbatch_gui.core.workers_ai.wire.decoding import decode


@dataclass(frozen=True, slots=True)
class TokenStatus:
    """`word` is "active", "disabled" or "expired"; times in seconds since 1970, UTC, 0.0 without one."""

    word: str
    expires_on: float = 0.0
    not_before: float = 0.0


class _Status(msgspec.Struct):
    status: str = ""
    expires_on: str | None = None
    not_before: str | None = None


_decoder = msgspec.json.Decoder(_Status)


def read_token_status(result: msgspec.Raw) -> TokenStatus:
    """Read the `result` of a verification. Code 10000 is also among its messages when all is well: it says nothing.

    Raises ReplyError.
    """
    found = decode(_decoder, result, "token status")
    return TokenStatus(found.status.lower(), _seconds(found.expires_on), _seconds(found.not_before))


def _seconds(text: str | None) -> float:
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(text or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return 0.0
