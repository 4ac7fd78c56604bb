"""Find the operation that a request calls, from its path before percent-decoding."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote

from cfbatch_gui.core.practice.responses import RefusalError, no_route
from cfbatch_gui.core.practice.vectorize.routes import PutVectors, VectorizeRoute, match_vectorize
from cfbatch_gui.core.workers_ai.limits import MAX_BODY_BYTES, MAX_UPLOAD_BYTES

PREFIX = "/client/v4"
_ACCOUNT = re.compile(r"[0-9a-fA-F]{32}\Z")
_FRAMING_BYTES = 1 << 16  # of multipart/form-data around the lines of an upload


@dataclass(frozen=True, slots=True)
class RunModel:
    """POST …/ai/run/{model}: a submit or a poll with `queue` (`queueRequest=true`), else a synchronous call."""

    account: str
    model: str
    queue: bool


@dataclass(frozen=True, slots=True)
class SearchModels:
    """GET …/ai/models/search."""

    search: str
    page: int
    per_page: int


@dataclass(frozen=True, slots=True)
class ModelSchema:
    """GET …/ai/models/schema."""

    model: str


@dataclass(frozen=True, slots=True)
class VerifyToken:
    """GET …/tokens/verify, of the user or of the account."""


Route = RunModel | SearchModels | ModelSchema | VerifyToken | VectorizeRoute


def find_route(method: str, raw_path: bytes, query: bytes) -> Route:
    """Return the operation for a method, an undecoded path and a query string. The prefix /client/v4 is optional.

    Raises RefusalError: 404 for an unknown path, an account id that is not 32 hex digits, or a percent-encoded
    slash anywhere; 405 for the wrong method.
    """
    path = raw_path.decode("ascii", "replace")
    parts = [unquote(part) for part in path.removeprefix(PREFIX).split("/")]
    if parts.pop(0) or any("/" in part for part in parts):
        raise no_route(path)
    parameters = {name: values[-1] for name, values in parse_qs(query.decode("ascii", "replace")).items()}
    allowed, route = _match(method, parts, parameters, path)
    if method != allowed:
        raise RefusalError(
            405, (10405, "Method not allowed for this authentication scheme"), headers=(("allow", allowed),)
        )
    return route


def most_body_bytes(route: Route) -> int:
    """How many bytes of a body can be of use; what comes behind them need not be kept."""
    return MAX_UPLOAD_BYTES + _FRAMING_BYTES if isinstance(route, PutVectors) else MAX_BODY_BYTES + 1


def _match(method: str, parts: list[str], parameters: dict[str, str], path: str) -> tuple[str, Route]:
    match parts:
        case ["user", "tokens", "verify"]:
            return "GET", VerifyToken()
        case ["accounts", account, *rest] if _ACCOUNT.match(account):
            match rest:
                case ["tokens", "verify"]:
                    return "GET", VerifyToken()
                case ["ai", "models", "search"]:
                    pages = _positive(parameters.get("page"), 1), _positive(parameters.get("per_page"), 20)
                    return "GET", SearchModels(parameters.get("search", ""), *pages)
                case ["ai", "models", "schema"]:
                    return "GET", ModelSchema(parameters.get("model", ""))
                case ["ai", "run", *model] if any(model):
                    return "POST", RunModel(account.lower(), "/".join(model), parameters.get("queueRequest") == "true")
                case ["vectorize", "v2", "indexes", *index]:
                    found = match_vectorize(account.lower(), method, index, parameters)
                    if found is not None:
                        return found
    raise no_route(path)


def _positive(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and 0 < int(text) <= 1000 else otherwise
