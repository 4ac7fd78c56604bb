"""Change one thing in an answer of Vectorize: what a client must notice that reads back what it has put.

A change that does not apply leaves the answer as it is.
"""

import json
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

VectorizeMutation: TypeAlias = Literal[
    "no_mutation_id",
    "mutation_unprocessed",
    "count_lags",
    "vector_missing",
    "vector_changed",
    "vector_shortened",
    "vector_renamed",
    "metadata_missing",
    "match_missing",
]

Json: TypeAlias = dict[str, Any]


def mutate_vectorize(data: bytes, how: VectorizeMutation) -> bytes:
    """Return the answer with one change. Data without a result of the right form is returned unchanged."""
    try:
        answer = json.loads(data)
    except ValueError:
        return data
    result = answer.get("result") if isinstance(answer, dict) else None
    if isinstance(result, dict) and how in _OF_RESULTS:
        _OF_RESULTS[how](result)
    elif how in _OF_VECTORS and (vectors := _vectors(result)):
        _OF_VECTORS[how](vectors)
    else:
        return data
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()


def _vectors(result: object) -> list[Json]:
    """The vectors of an answer, if it has their numbers: those read by id, or the matches of a query."""
    found = result.get("matches") if isinstance(result, dict) else result
    has_numbers = isinstance(found, list) and found and isinstance(found[0], dict) and found[0].get("values")
    return found if isinstance(found, list) and has_numbers else []


def _unprocess(result: Json) -> None:
    """As if no change had been processed yet, and there were no vectors."""
    if "processedUpToMutation" in result:
        result.update(vectorCount=0, processedUpToMutation=None, processedUpToDatetime=None)


def _count_less(result: Json) -> None:
    if result.get("vectorCount"):
        result["vectorCount"] -= 1


def _drop_match(result: Json) -> None:
    if result.get("matches"):
        del result["matches"][0]
        result["count"] = len(result["matches"])


def _change_number(vectors: list[Json]) -> None:
    """Add one to a number: more than any rounding of a unit vector."""
    vectors[0]["values"][0] += 1.0


_OF_RESULTS: Final[dict[VectorizeMutation, Callable[[Json], object]]] = {
    "no_mutation_id": lambda result: result.pop("mutationId", None),
    "mutation_unprocessed": _unprocess,
    "count_lags": _count_less,
    "match_missing": _drop_match,
}
_OF_VECTORS: Final[dict[VectorizeMutation, Callable[[list[Json]], object]]] = {
    "vector_missing": lambda vectors: vectors.pop(0),
    "vector_changed": _change_number,
    "vector_shortened": lambda vectors: vectors[0]["values"].pop(),
    "vector_renamed": lambda vectors: vectors[0].update(id=f"{vectors[0]['id']}-2"),
    "metadata_missing": lambda vectors: vectors[0].pop("metadata", None),
}
