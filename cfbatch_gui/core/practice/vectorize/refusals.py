"""What Vectorize refuses, with its codes and words.

No page lists them. docs/vectorize.md says which of them other programs have met, and which are assumed.
"""

from typing import Final

from cfbatch_gui.core.practice.responses import RefusalError

INVALID_CONFIG: Final = 3001
UNKNOWN_LIMIT: Final = 40001


def unknown_content_type() -> RefusalError:
    """An upload that is marked neither as NDJSON nor as a form."""
    return RefusalError(400, (1005, "vectorize.unknown_content_type"))


def index_not_found(name: str) -> RefusalError:
    """No index of that name was ever created."""
    return RefusalError(404, (3000, f'vectorize.index.not_found - Index name "{name}"'))


def index_deleted(name: str) -> RefusalError:
    """The index of that name was deleted, and none was created since."""
    return RefusalError(410, (3005, f'vectorize.index.deleted - Index name "{name}" was deleted'))


def duplicate_name(name: str) -> RefusalError:
    """An index of that name exists."""
    return RefusalError(400, (3002, f'vectorize.index.duplicate_name - Index name "{name}"'))


def invalid_config(reason: str) -> RefusalError:
    """An index that cannot be created so."""
    return RefusalError(400, (INVALID_CONFIG, f"vectorize.index.invalid_config - {reason}"))


def over_limit(reason: str, *, status: int = 400) -> RefusalError:
    """A limit of the documentation whose refusal nobody has published."""
    return RefusalError(status, (UNKNOWN_LIMIT, f"vectorize.limit_exceeded - {reason}"))


def wrong_query_dimensions(expected: int, found: int) -> RefusalError:
    """The vector of a query has another length than those of the index."""
    return RefusalError(
        400, (40006, f"invalid query vector, expected {expected} dimensions, and got {found} dimensions")
    )


def too_many_ids(most: int, found: int) -> RefusalError:
    """A call that reads or deletes more vectors than it may."""
    return RefusalError(400, (40007, f"too many ids in payload; max id count is {most}, got {found}"))


def id_too_long(most: int, found: int) -> RefusalError:
    """An id has more bytes than it may."""
    return RefusalError(400, (40008, f"id too long; max is {most} bytes, got {found} bytes"))


def wrong_dimensions(identifier: str, expected: int, found: int) -> RefusalError:
    """A vector has another length than those of the index."""
    words = f'invalid vector for id="{identifier}", expected {expected} dimensions, and got {found} dimensions'
    return RefusalError(400, (40012, words))


def invalid_metadata_key(identifier: str, key: str) -> RefusalError:
    """A key of metadata is empty, begins with a dollar sign, or has a dot or a double quote."""
    return RefusalError(400, (40018, f'invalid metadata for id="{identifier}", key "{key}" is not allowed'))


def unreadable_line(verb: str, line: int, reason: str) -> RefusalError:
    """A line of an upload is not a vector; `line` is its index, from 0."""
    words = f"failed to parse {verb} vectors request in ndjson format: line Some({line}) was not expected format"
    return RefusalError(400, (40023, f"vectorize.upstream_error - {words}: {reason}"))


def too_many_matches(most: int, found: int, *, with_values: bool) -> RefusalError:
    """A query for more matches than it may ask for."""
    words = "with returnValues=true or returnMetadata=all, max top K is" if with_values else "max top K is"
    return RefusalError(400, (40025, f"{words} {most}, but got {found}"))


def unreadable_body(reason: str) -> RefusalError:
    """A body that is not the JSON that the operation takes."""
    return RefusalError(400, (40026, f"Failed to parse the request body as JSON: {reason}"))
