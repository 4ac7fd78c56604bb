"""API tokens and other secrets: checks of their form, and a type that is not printed, logged or pickled by accident."""

import hmac
import re
from dataclasses import dataclass
from typing import Final, NoReturn

from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.connection_kinds import CLOUDFLARE_BASE_URL

MIN_LENGTH = 20
MAX_LENGTH = 1_000  # Windows keeps 1,280 characters

_QUOTES = "\"'`“”‘’"
_LEAD = re.compile(r"^(?:authorization:\s*)?bearer(?:\s+|$)", re.IGNORECASE)


class Token:
    """A secret whose repr does not show it and which cannot be pickled; compared in constant time."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Token(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Token) and hmac.compare_digest(self._text, other._text)

    def __hash__(self) -> int:
        return hash((Token, self._text))

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a token is not stored")


_NO_TOKENS: Final = {  # by what the text looks like
    r"(?!.)": message("there_is_no_api_token_yet"),
    r"(?![!-~]+\Z)": message("is_not_api_token_holds_space"),
    r"cfk_|[0-9a-f]{37}\Z": message("is_global_api_key_may_do"),
    r"v1\.0-": message("is_origin_ca_key_create_api"),
    f"(?!.{{{MIN_LENGTH}}})": message("is_too_short_api_token_copy"),
    f".{{{MAX_LENGTH + 1}}}": message("is_too_long_api_token_copy"),
}


def check_form(text: str) -> Token:
    """The API token in a pasted text. Raises NotConnected, whose message never holds the text."""
    cleaned = _cleaned(text)
    for form, sentence in _NO_TOKENS.items():
        if re.match(form, cleaned, re.DOTALL):
            raise NotConnected(sentence)
    return Token(cleaned)


def check_secret(text: str) -> Token:
    """The user's own secret for a Worker or a gateway, from a pasted text. Raises NotConnected."""
    cleaned = _cleaned(text)
    if not cleaned:
        raise NotConnected(message("there_is_no_secret_yet_paste"))
    if not re.fullmatch(r"[!-~]{8,}", cleaned) or len(cleaned) > MAX_LENGTH or not cleaned.strip("0123456789eE+-."):
        raise NotConnected(message("cannot_be_sent_secret_8_most", most=MAX_LENGTH))
    return Token(cleaned)


def _cleaned(text: str) -> str:
    return _LEAD.sub("", text.strip(" \t\r\n\ufeff\u200b\u00a0").strip(_QUOTES)).strip(_QUOTES + " ")


_INVISIBLE: Final = "\ufeff\u200b\u2060"
_SPACE: Final = re.compile(r"[\u00a0\u2007\u202f]")
_QUOTED: Final = r"[\"'“”‘’]?"
_ACCOUNT: Final = re.compile(r"(?<![0-9A-Za-z_-])[0-9a-f]{32}(?![0-9A-Za-z_-])", re.IGNORECASE)
_BEARER: Final = re.compile(r"\bbearer\s+([^\s\"'“”‘’\\]+)", re.IGNORECASE)
_KEY_HEADER: Final = re.compile(r"\bx-auth-key:\s*([^\s\"'“”‘’\\]+)", re.IGNORECASE)
# export NAME=…, set NAME=…, $env:NAME = "…", and NAME: … as in a settings file
_VARIABLE: Final = re.compile(
    rf"(?:^|[\s;&$])(?:env:)?(?P<name>[A-Z][A-Z0-9_]*){_QUOTED}\s*[=:]\s*{_QUOTED}(?P<value>[^\s\"'“”‘’;]+)",
    re.MULTILINE,
)
_ADDRESS: Final = re.compile(r"https?://[^\s\"'“”‘’<>\\]+", re.IGNORECASE)
_MARKED_TOKEN: Final = re.compile(r"(?<![0-9A-Za-z_-])cf(?:ut|at|k)_[A-Za-z0-9_-]{8,}")
_API: Final = re.compile(r"(?P<base>https?://[^/]+(?:/[^/]+)*?)/accounts/[^/?#]+", re.IGNORECASE)
_GATEWAY: Final = re.compile(r"https://gateway\.ai\.cloudflare\.com/v1/[^/?#]+/(?P<gateway>[\w-]+)", re.IGNORECASE)
_NO_WORKERS: Final = (CLOUDFLARE_BASE_URL, "https://dash.cloudflare.com", "https://developers.cloudflare.com")


@dataclass(frozen=True, slots=True)
class Pasted:
    """The values found in a text. `problem` says what looks like a token but is none."""

    account_id: str = ""
    token: Token | None = None
    base_url: str = ""
    gateway: str = ""
    worker_url: str = ""
    problem: str = ""


def read_pasted(text: str) -> Pasted:
    """Find the values in any text; a placeholder (`$API_TOKEN`, `<token>`) is none. Never raises."""
    cleaned = _SPACE.sub(" ", text.translate({ord(sign): None for sign in _INVISIBLE})).strip()
    token_text, token, problem = _find_token(cleaned), None, ""
    if token_text:
        try:
            token = check_form(token_text)
        except NotConnected as error:
            problem = error.message
    base_url, gateway, worker_url = _read_addresses(cleaned)
    return Pasted(_find_account(cleaned, token_text), token, base_url, gateway, worker_url, problem)


def _read_addresses(text: str) -> tuple[str, str, str]:
    base_url = gateway = worker_url = ""
    for address in _ADDRESS.findall(text):
        if found := _GATEWAY.match(address):
            gateway = found["gateway"]
        elif found := _API.match(address):
            base_url = "" if found["base"].lower() == CLOUDFLARE_BASE_URL else found["base"]
        elif not address.lower().startswith(_NO_WORKERS):
            worker_url = worker_url or address.partition("?")[0].partition("/ai/run")[0].rstrip("/")
    return base_url, gateway, worker_url


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
    named = [found["value"] for found in _VARIABLE.finditer(text) if "ACCOUNT" in found["name"]]
    found = _ACCOUNT.search(" ".join((*named, text.replace(token, " ") if token else text)))
    return found[0].lower() if found else ""


def _is_placeholder(text: str) -> bool:
    return text.startswith(("$", "<", "{", "%", "[", "YOUR", "your")) or text.endswith((">", "}"))
