"""Find the operation that a request to Vectorize calls, from the parts of its path behind the account."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cfbatch_gui.core.workers_ai.limits import MAX_LISTED_VECTORS

_LISTED_BY_DEFAULT: Final = 100


@dataclass(frozen=True, slots=True)
class CreateIndex:
    """POST …/indexes."""

    account: str


@dataclass(frozen=True, slots=True)
class ListIndexes:
    """GET …/indexes."""

    account: str


@dataclass(frozen=True, slots=True)
class GetIndex:
    """GET …/indexes/{name}."""

    account: str
    name: str


@dataclass(frozen=True, slots=True)
class DeleteIndex:
    """DELETE …/indexes/{name}."""

    account: str
    name: str


@dataclass(frozen=True, slots=True)
class DescribeIndex:
    """GET …/indexes/{name}/info."""

    account: str
    name: str


@dataclass(frozen=True, slots=True)
class PutVectors:
    """POST …/indexes/{name}/upsert with `replaces`, …/insert without.

    `discards` (`unparsable-behavior=discard`) leaves out lines that cannot be read, instead of refusing all.
    """

    account: str
    name: str
    replaces: bool
    discards: bool


@dataclass(frozen=True, slots=True)
class GetVectors:
    """POST …/indexes/{name}/get_by_ids."""

    account: str
    name: str


@dataclass(frozen=True, slots=True)
class DeleteVectors:
    """POST …/indexes/{name}/delete_by_ids."""

    account: str
    name: str


@dataclass(frozen=True, slots=True)
class ListVectors:
    """GET …/indexes/{name}/list. `cursor` is "" for the first page."""

    account: str
    name: str
    count: int
    cursor: str


@dataclass(frozen=True, slots=True)
class QueryIndex:
    """POST …/indexes/{name}/query."""

    account: str
    name: str


@dataclass(frozen=True, slots=True)
class CreateMetadataIndex:
    """POST …/indexes/{name}/metadata_index/create."""

    account: str
    name: str


@dataclass(frozen=True, slots=True)
class ListMetadataIndexes:
    """GET …/indexes/{name}/metadata_index/list."""

    account: str
    name: str


@dataclass(frozen=True, slots=True)
class DeleteMetadataIndex:
    """POST …/indexes/{name}/metadata_index/delete."""

    account: str
    name: str


_Read = ListIndexes | GetIndex | DescribeIndex | GetVectors | ListVectors | QueryIndex | ListMetadataIndexes
_Write = CreateIndex | DeleteIndex | PutVectors | DeleteVectors | CreateMetadataIndex | DeleteMetadataIndex
VectorizeRoute = _Read | _Write


def is_write(route: VectorizeRoute) -> bool:
    """Whether the operation needs the permission to write."""
    return isinstance(route, _Write)


def match_vectorize(
    account: str, method: str, parts: Sequence[str], parameters: Mapping[str, str]
) -> tuple[str, VectorizeRoute] | None:
    """Return the method that the address takes and its operation, None for an unknown address.

    `parts` are the decoded parts of the path behind …/vectorize/v2/indexes. An address with two methods is matched by
    `method`.
    """
    match parts:
        case []:
            return ("POST", CreateIndex(account)) if method == "POST" else ("GET", ListIndexes(account))
        case [name] if name:
            return ("DELETE", DeleteIndex(account, name)) if method == "DELETE" else ("GET", GetIndex(account, name))
        case [name, "info"] if name:
            return "GET", DescribeIndex(account, name)
        case [name, "upsert" | "insert" as verb] if name:
            discards = parameters.get("unparsable-behavior") == "discard"
            return "POST", PutVectors(account, name, verb == "upsert", discards)
        case [name, "get_by_ids"] if name:
            return "POST", GetVectors(account, name)
        case [name, "delete_by_ids"] if name:
            return "POST", DeleteVectors(account, name)
        case [name, "query"] if name:
            return "POST", QueryIndex(account, name)
        case [name, "list"] if name:
            count = _count(parameters.get("count", ""))
            return "GET", ListVectors(account, name, count, parameters.get("cursor", ""))
        case [name, "metadata_index", verb] if name:
            return _match_metadata_index(account, name, verb)
    return None


def _match_metadata_index(account: str, name: str, verb: str) -> tuple[str, VectorizeRoute] | None:
    match verb:
        case "create":
            return "POST", CreateMetadataIndex(account, name)
        case "list":
            return "GET", ListMetadataIndexes(account, name)
        case "delete":
            return "POST", DeleteMetadataIndex(account, name)
    return None


def _count(text: str) -> int:
    """A page's size; text that is no number from 1 to the limit is answered as if there were none."""
    fits = text.isascii() and text.isdigit() and len(text) < 6 and 0 < int(text) <= MAX_LISTED_VECTORS
    return int(text) if fits else _LISTED_BY_DEFAULT
