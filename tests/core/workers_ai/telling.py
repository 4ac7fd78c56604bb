"""Everything that can be read from an exception, for tests that search it for secrets."""

import traceback
from collections.abc import Iterator

from tests.canary_search import Search


def holds_token(text: str) -> bool:
    """Whether a text contains one of the tests' tokens in any of the encodings that `Search` knows."""
    search = Search()
    search.text(text, "a text")
    return bool(search.hits)


def everything_told(error: BaseException) -> str:
    """Text, repr, attributes and traceback with local variables of an exception and of all those in its chain.

    Exceptions hidden by `from None` are included; the tests' own frames are not.
    """
    return "\n".join(line for each in _chain(error, set()) for line in _told(each))


def _told(error: BaseException) -> Iterator[str]:
    yield from (str(error), repr(error), repr(error.args), repr(getattr(error, "__dict__", {})))
    trace = traceback.TracebackException.from_exception(error, capture_locals=True)
    for frame in trace.stack:
        if "/tests/" not in frame.filename:
            yield f"{frame.filename}:{frame.lineno} {frame.name} {frame.locals}"


def _chain(error: BaseException | None, seen: set[int]) -> Iterator[BaseException]:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    yield error
    for other in (error.__cause__, error.__context__, *getattr(error, "exceptions", ())):
        yield from _chain(other, seen)
