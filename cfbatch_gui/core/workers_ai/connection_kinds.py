"""Kinds of connections to the service, their values and addresses; secrets are in the keyring."""

import hashlib
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import urlsplit

from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai import limits
from cfbatch_gui.core.workers_ai.catalogue import find_model
from cfbatch_gui.core.workers_ai.limits import MAX_BODY_BYTES, MAX_FREE_WORKER_BODY_BYTES

CLOUDFLARE_BASE_URL = "https://api.cloudflare.com/client/v4"
GATEWAY_BASE_URL = "https://gateway.ai.cloudflare.com/v1"
PRACTICE_BASE_URL = "http://practice.invalid/client/v4"  # never resolved: the practice service is called in-process
PRACTICE_ACCOUNT = "00000000000000000000000000000000"

_ACCOUNT_ID = re.compile(r"(?<![0-9a-z_])[0-9a-f]{32}(?![0-9a-z_])")  # not a part of a token
_GATEWAY = re.compile(r"[A-Za-z0-9_-]{1,64}")
_UNSEEN = re.compile(r"[\s\u200b\ufeff]+")  # spaces, and invisible characters of copied text


class ConnectionKind(StrEnum):
    """What a connection leads to."""

    PRACTICE = "practice"
    CLOUDFLARE = "cloudflare"
    WORKER = "worker"  # the user's own, in front of the Workers Binding
    GATEWAY = "gateway"  # an AI Gateway in front of the REST API


@dataclass(frozen=True, slots=True)
class Connection:
    """One way to the service.

    `api_base_url` is that of Cloudflare's v4 API, "" where there is none; `account_id` is "" for a Worker.
    `first_check` is the shortest time in seconds between two polls of a batch.
    """

    id: str
    title: str
    kind: ConnectionKind
    base_url: str
    account_id: str = ""
    first_check: float = 2.0
    api_base_url: str = ""
    gateway: str = ""
    gateway_by_header: bool = False
    body_bytes: int = MAX_BODY_BYTES  # the most that a batch may have
    collects: bool = False  # a Worker that is handed batches, to collect their answers in the user's account
    keep_days: int = 0  # how long answers stay in the account once they are here

    @property
    def is_practice(self) -> bool:
        return self.kind is ConnectionKind.PRACTICE

    @property
    def has_paid_worker(self) -> bool:
        return self.kind is ConnectionKind.WORKER and self.body_bytes == MAX_BODY_BYTES

    def dimensions_of(self, model: str) -> frozenset[int]:
        """The lengths that vectors of a model may have, none when it is not known."""
        known = find_model(model).dimension
        if not known:
            return frozenset()
        is_here = self.is_practice or is_on_this_computer(self.base_url)
        return frozenset({known}) | (limits.PRACTICE_DIMENSIONS if is_here else frozenset())

    @property
    def account_mark(self) -> str:
        """A short digest of the account id, stored with a job; "" without an account."""
        return hashlib.sha256(self.account_id.encode()).hexdigest()[:16] if self.account_id else ""


PRACTICE = Connection(
    id="practice",
    title=message("practice_service"),
    kind=ConnectionKind.PRACTICE,
    base_url=PRACTICE_BASE_URL,
    account_id=PRACTICE_ACCOUNT,
    first_check=0.25,
    api_base_url=PRACTICE_BASE_URL,
)


def connection_of(record: SavedConnection, api_base_url: str = CLOUDFLARE_BASE_URL) -> Connection:
    """A connection as it was saved. Raises NotConnected for what is missing, malformed or unsafe.

    Workers Free stops a Worker after 10 ms, about a megabyte: batches stay small unless the plan is a paid one.
    """
    made = Connection(record.id, record.name, ConnectionKind(record.kind), "")
    if record.kind == "worker":
        if not record.url.strip():
            raise NotConnected(message("worker_address_is_missing_open_connection"))
        address = check_base_url(record.url.partition("?")[0], example="https://batch.example.workers.dev")
        return replace(
            made,
            base_url=address.partition("/ai/run")[0],
            body_bytes=MAX_BODY_BYTES if record.paid_plan else MAX_FREE_WORKER_BODY_BYTES,
            collects=record.collects,
            keep_days=max(0, record.keep_days),
        )
    if record.kind == "cloudflare":
        if not record.account_id:
            raise NotConnected(message("no_cloudflare_account_is_connected_open"))
        address = check_base_url(record.url or api_base_url)
        account = clean_account_id(record.account_id)
        return replace(made, base_url=address, api_base_url=address, account_id=account)
    if not _GATEWAY.fullmatch(record.gateway.strip()):
        raise NotConnected(message("is_not_name_gateway_letters_digits"))
    return replace(
        made,
        base_url=check_base_url(record.url or GATEWAY_BASE_URL),
        account_id=clean_account_id(record.account_id),
        api_base_url=check_base_url(api_base_url),
        gateway=record.gateway.strip(),
        gateway_by_header=record.by_header,
    )


def clean_account_id(text: str) -> str:
    """The account id in what was pasted: an address of the dashboard, quotes, spaces. Raises NotConnected."""
    pasted = text.lower()
    found = _ACCOUNT_ID.search(pasted) or _ACCOUNT_ID.search(_UNSEEN.sub("", pasted))
    if found:
        return found[0]
    if not _UNSEEN.sub("", pasted):
        raise NotConnected(message("account_id_is_missing_open_connection"))
    raise NotConnected(message("is_not_account_id_32_characters"))


def check_base_url(text: str, *, example: str = "https://api.cloudflare.com/client/v4") -> str:
    """An address without a slash at its end; http on this computer only. Raises NotConnected."""
    text = text.strip()
    try:
        parts = urlsplit(text)
        is_address = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or not text.isascii() or not text.isprintable() or " " in text:
        raise NotConnected(message("text_is_not_address_should_look", text=text, example=example))
    if parts.username is not None or parts.query or parts.fragment:
        raise NotConnected(message("service_address_may_not_hold_user"))
    if parts.scheme == "http" and not is_on_this_computer(text):
        raise NotConnected(message("text_is_not_safe_over_http", text=text))
    return text.rstrip("/")


def is_on_this_computer(address: str) -> bool:
    """Whether an address leads to a loopback one."""
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def title_of(saved: Sequence[SavedConnection], connection_id: str) -> str:
    """What people call a connection, also one that was deleted."""
    usual: dict[str, str] = {PRACTICE.id: PRACTICE.title, ConnectionKind.CLOUDFLARE: "Cloudflare"}
    titles = usual | {each.id: each.name for each in saved}
    return titles.get(connection_id) or message("connection_was_removed")
