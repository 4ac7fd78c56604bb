"""Vectorize of the practice service: from an operation and a body to an answer, independent of HTTP."""

import base64
import hashlib
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from cfbatch_gui.core.practice.responses import Answer, RefusalError, success
from cfbatch_gui.core.practice.vectorize import changes, routes
from cfbatch_gui.core.practice.vectorize.bodies import (
    Ids,
    NewMetadataIndex,
    OldMetadataIndex,
    Query,
    read_json,
    read_new_index,
)
from cfbatch_gui.core.practice.vectorize.changes import Kind, Posted
from cfbatch_gui.core.practice.vectorize.database import opened
from cfbatch_gui.core.practice.vectorize.indexes import (
    Index,
    create_index,
    delete_index,
    find_index,
    indexes_of,
    progress,
)
from cfbatch_gui.core.practice.vectorize.metadata_indexes import applied_metadata_indexes
from cfbatch_gui.core.practice.vectorize.reading import matches, page_of_ids, vectors_by_id
from cfbatch_gui.core.practice.vectorize.refusals import id_too_long, too_many_ids, unreadable_body
from cfbatch_gui.core.practice.vectorize.uploads import read_upload
from cfbatch_gui.core.workers_ai.limits import MAX_DELETED_IDS, MAX_READ_IDS, MAX_VECTOR_ID_BYTES

_CURSOR_SECONDS: Final = 3_600.0


class Permission(StrEnum):
    """What the token may do with Vectorize: nothing, read, or write as well."""

    NONE = "none"
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class VectorizeService:
    """Answers one request at a time per thread; blocks: call it in a worker thread.

    A change is applied when it is `seconds_mutating` old by `clock`, which returns seconds since 1970.
    """

    folder: Path
    seconds_mutating: float
    clock: Callable[[], float]
    permission: Permission

    def answer(self, route: routes.VectorizeRoute, body: bytes, content_type: str) -> Answer:
        """Perform an operation. Raises RefusalError; sqlite3.Error and OSError when the file cannot be written."""
        needed = (Permission.WRITE,) if routes.is_write(route) else (Permission.READ, Permission.WRITE)
        if self.permission not in needed:
            raise RefusalError(403, (10000, "Authentication error"))
        now = self.clock()
        with opened(self.folder) as database:
            match route:
                case routes.ListIndexes(account):
                    return success([_shown(index) for index in indexes_of(database, account)])
                case routes.CreateIndex(account):
                    index = create_index(database, account, read_new_index(body), now)
                    changes.note_event(database, index, Kind.CREATE_INDEX, _posted(body, now))
                    return success(_shown(index))
            index = find_index(database, route.account, route.name)
            changes.apply_due(database, index, now - self.seconds_mutating)
            if routes.is_write(route):
                return success(_change(database, index, route, body, content_type=content_type, now=now))
            return success(self._read(database, index, route, body, now))

    def _read(
        self, database: sqlite3.Connection, index: Index, route: routes.VectorizeRoute, body: bytes, now: float
    ) -> object:
        match route:
            case routes.DescribeIndex():
                return self._described(database, index)
            case routes.GetVectors():
                return vectors_by_id(database, index, _ids(body, MAX_READ_IDS))
            case routes.ListVectors():
                return _listed(database, index, route, now)
            case routes.QueryIndex():
                found = matches(database, index, read_json(body, Query))
                return {"count": len(found), "matches": found}
            case routes.ListMetadataIndexes():
                kept = applied_metadata_indexes(database, index.key)
                return {"metadataIndexes": [{"propertyName": each.name, "indexType": each.type} for each in kept]}
        return _shown(index)

    def _described(self, database: sqlite3.Connection, index: Index) -> Mapping[str, object]:
        done = progress(database, index)
        is_any = bool(done.mutation_id)
        return {
            "dimensions": index.dimensions,
            "vectorCount": done.vectors,
            "processedUpToMutation": done.mutation_id if is_any else None,
            "processedUpToDatetime": _time(done.accepted_at + self.seconds_mutating) if is_any else None,
        }


def _change(
    database: sqlite3.Connection,
    index: Index,
    route: routes.VectorizeRoute,
    body: bytes,
    *,
    content_type: str,
    now: float,
) -> object:
    posted = _posted(body, now)
    match route:
        case routes.PutVectors():
            kind = Kind.UPSERT if route.replaces else Kind.INSERT
            vectors = read_upload(
                body, content_type, dimensions=index.dimensions, verb=kind.value, discards=route.discards
            )
            return _accepted(changes.accept_vectors(database, index, kind, posted, vectors))
        case routes.DeleteVectors():
            return _accepted(changes.accept_deletion(database, index, posted, _ids(body, MAX_DELETED_IDS)))
        case routes.CreateMetadataIndex():
            new = read_json(body, NewMetadataIndex)
            return _accepted(changes.accept_metadata_index(database, index, posted, new))
        case routes.DeleteMetadataIndex():
            name = read_json(body, OldMetadataIndex).property_name
            return _accepted(changes.accept_metadata_index_deletion(database, index, posted, name))
    changes.note_event(database, index, Kind.DELETE_INDEX, posted)
    delete_index(database, index)
    return None


def _posted(body: bytes, now: float) -> Posted:
    return Posted(len(body), hashlib.sha256(body).hexdigest(), now)


def _accepted(mutation_id: str) -> dict[str, str]:
    return {"mutationId": mutation_id}


def _ids(body: bytes, most: int) -> list[str]:
    ids = read_json(body, Ids).ids
    if len(ids) > most:
        raise too_many_ids(most, len(ids))
    for each in ids:
        size = len(each.encode())
        if size > MAX_VECTOR_ID_BYTES:
            raise id_too_long(MAX_VECTOR_ID_BYTES, size)
    return ids


def _listed(database: sqlite3.Connection, index: Index, route: routes.ListVectors, now: float) -> dict[str, Any]:
    page = page_of_ids(database, index, _after(route.cursor), route.count)
    result: dict[str, Any] = {
        "count": len(page.ids),
        "isTruncated": page.has_more,
        "totalCount": progress(database, index).vectors,
        "vectors": [{"id": identifier} for identifier in page.ids],
    }
    if page.has_more:
        result["nextCursor"] = base64.urlsafe_b64encode(page.ids[-1].encode()).decode()
        result["cursorExpirationTimestamp"] = _time(now + _CURSOR_SECONDS)
    return result


def _after(cursor: str) -> str:
    try:
        return base64.b64decode(cursor.encode(), altchars=b"-_", validate=True).decode()
    except ValueError:
        raise unreadable_body("invalid cursor") from None


def _shown(index: Index) -> dict[str, object]:
    return {
        "name": index.name,
        "description": index.description,
        "config": {"dimensions": index.dimensions, "metric": index.metric},
        "created_on": _time(index.created_at),
        "modified_on": _time(index.created_at),
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
