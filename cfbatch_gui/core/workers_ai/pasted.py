"""Find the values of a connection in pasted text: an id, a token, a curl command, lines of a shell, an address."""

import re
from dataclasses import dataclass
from typing import Final

from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form
from cfbatch_gui.core.workers_ai.connection_kinds import CLOUDFLARE_BASE_URL

_INVISIBLE: Final = "\ufeff\u200b\u2060"
_SPACE: Final = re.compile(r"[\u00a0\u2007\u202f]")
_QUOTES: Final = "\"'`“”‘’"
_QUOTED: Final = r"[\"'“”‘’]?"
_ACCOUNT: Final = re.compile(r"(?<![0-9A-Za-z_-])[0-9a-f]{32}(?![0-9A-Za-z_-])", re.IGNORECASE)
_BEARER: Final = re.compile(r"\bbearer\s+([^\s\"'“”‘’\\]+)", re.IGNORECASE)
_KEY_HEADER: Final = re.compile(r"\bx-auth-key:\s*([^\s\"'“”‘’\\]+)", re.IGNORECASE)
# export NAME=…, set NAME=…, $env:NAME = "…", and NAME: … as in a settings file
_VARIABLE: Final = re.compile(
    r"(?:^|[\s;&$])(?:env:)?(?P<name>[A-Z][A-Z0-9_]*)"
    + _QUOTED
    + r"\s*[=:]\s*"
    + _QUOTED
    + r"(?P<value>[^\s\"'“”‘’;]+)",
    re.MULTILINE,
)
_ADDRESS: Final = re.compile(r"https?://[^\s\"'“”‘’<>\\]+", re.IGNORECASE)
_MARKED_TOKEN: Final = re.compile(r"(?<![0-9A-Za-z_-])cf(?:ut|at|k)_[A-Za-z0-9_-]{8,}")
_API: Final = re.compile(r"(?P<base>https?://[^/]+(?:/[^/]+)*?)/accounts/(?P<account>[^/?#]+)", re.IGNORECASE)
_GATEWAY: Final = re.compile(
    r"https://gateway\.ai\.cloudflare\.com/v1/(?P<account>[^/?#]+)/(?P<gateway>[\w-]+)", re.IGNORECASE
)
_DASHBOARD: Final = "https://dash.cloudflare.com"


@dataclass(frozen=True, slots=True)
class Pasted:
    """The values found in a text; "" or None for those that it does not hold.

    `base_url` is the API's address, "" for `CLOUDFLARE_BASE_URL`; `worker_url` is the address of a Worker. `problem` is
    a sentence for the user about something that looks like a token but is not one, such as a global key.
    """

    account_id: str = ""
    token: Token | None = None
    base_url: str = ""
    gateway: str = ""
    worker_url: str = ""
    problem: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found."""
        return self == Pasted()


def read_pasted(text: str) -> Pasted:
    """Find the values in any text. Never raises; a placeholder (`$API_TOKEN`, `<token>`) does not count as a value."""
    cleaned = _SPACE.sub(" ", text.translate({ord(sign): None for sign in _INVISIBLE})).strip()
    account, base_url, gateway, worker_url = _read_addresses(cleaned)
    token_text = _find_token(cleaned)
    token, problem = None, ""
    if token_text:
        try:
            token = check_form(token_text)
        except NotConnected as error:
            problem = error.message
    account = account or _find_account(cleaned, token_text)
    return Pasted(account, token, base_url, gateway, worker_url, problem)


def _read_addresses(text: str) -> tuple[str, str, str, str]:
    account = base_url = gateway = worker_url = ""
    for address in _ADDRESS.findall(text):
        if found := _GATEWAY.match(address):
            account, gateway = account or _id_in(found["account"]), found["gateway"]
        elif address.lower().startswith(_DASHBOARD):
            account = account or _id_in(address)
        elif found := _API.match(address):
            account = account or _id_in(found["account"])
            base_url = "" if found["base"].lower() == CLOUDFLARE_BASE_URL else found["base"]
        elif not address.lower().startswith((CLOUDFLARE_BASE_URL, "https://developers.cloudflare.com")):
            worker_url = worker_url or address.partition("?")[0].partition("/ai/run")[0].rstrip("/")
    return account, base_url, gateway, worker_url


def _find_token(text: str) -> str:
    for found in (*_BEARER.findall(text), *_KEY_HEADER.findall(text)):
        if not _is_placeholder(found):
            return str(found)
    for found in _VARIABLE.finditer(text):
        named = found["name"]
        if ("TOKEN" in named or named.endswith("_KEY")) and not _is_placeholder(found["value"]):
            return found["value"]
    if marked := _MARKED_TOKEN.search(text):
        return marked[0]
    alone = text.strip(_QUOTES + " ")
    is_one_word = bool(alone) and not re.search(r"\s|://", alone) and not _VARIABLE.search(alone)
    return alone if is_one_word and not _is_placeholder(alone) and not _ACCOUNT.fullmatch(alone) else ""


def _find_account(text: str, token: str) -> str:
    for found in _VARIABLE.finditer(text):
        if "ACCOUNT" in found["name"] and (account := _id_in(found["value"])):
            return account
    return _id_in(text.replace(token, " ") if token else text)


def _id_in(text: str) -> str:
    found = _ACCOUNT.search(text)
    return found[0].lower() if found else ""


def _is_placeholder(text: str) -> bool:
    return text.startswith(("$", "<", "{", "%", "[", "YOUR", "your")) or text.endswith((">", "}"))
