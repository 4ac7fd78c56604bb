"""Which addresses a token may be sent to."""

import ipaddress
from urllib.parse import urlsplit

from cfbatch_gui.core.errors import NotConnected


def check_base_url(text: str, *, example: str = "https://api.cloudflare.com/client/v4") -> str:
    """The address to put paths behind, without a slash at its end. `example` is shown for what is no address.

    https anywhere, http on this computer only: the token would travel readable. Raises NotConnected.
    """
    text = text.strip()
    try:
        parts = urlsplit(text)
        host, _port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _not_an_address(text, example) from error
    if not host or not text.isascii() or not text.isprintable() or " " in text or parts.scheme not in ("https", "http"):
        raise _not_an_address(text, example)
    if parts.username is not None or parts.query or parts.fragment:
        raise NotConnected(
            "The service's address may not hold a user name, a password, “?” or “#”. Give host and path only."
        )
    if parts.scheme == "http" and not _is_this_computer(host):
        raise NotConnected(
            f"“{text}” is not safe: over http the token could be read on the way. Use https; http is for this computer"
            " only."
        )
    return text.rstrip("/")


def is_on_this_computer(address: str) -> bool:
    """Whether an address that was checked leads nowhere else."""
    return _is_this_computer(urlsplit(address).hostname or "")


def _not_an_address(text: str, example: str) -> NotConnected:
    return NotConnected(f"“{text}” is not an address. It should look like {example}.")


def _is_this_computer(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
