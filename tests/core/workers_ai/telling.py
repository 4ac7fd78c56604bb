"""Everything that can be read from an exception, for tests that search it for secrets."""

import base64
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from tests.canary_search import Search

TESTS: Final = Path(__file__).parents[2]


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
        if not Path(frame.filename).is_relative_to(TESTS):
            yield f"{frame.filename}:{frame.lineno} {frame.name} {frame.locals}"


def _chain(error: BaseException | None, seen: set[int]) -> Iterator[BaseException]:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    yield error
    for other in (error.__cause__, error.__context__, *getattr(error, "exceptions", ())):
        yield from _chain(other, seen)


Form = Callable[[str], str]


def _base64(before: str, after: str = "", *, url_safe: bool = False) -> Form:
    encode = base64.urlsafe_b64encode if url_safe else base64.b64encode
    return lambda secret: encode(f"{before}{secret}{after}".encode()).decode()


# Each makes text that is then put into an answer, as a JSON string or as it is.
FORMS: Final[dict[str, Form]] = {
    "as it is": str,
    "Bearer": lambda secret: f"Bearer {secret}",
    "between letters": lambda secret: f"xx{secret}yy",
    "percent": lambda secret: quote(f"Bearer {secret}", safe=""),
    "base64": _base64(""),
    "base64 of the header": _base64("Bearer "),
    "base64, third alignment": _base64("ab", "?>?"),
    "base64 for addresses": _base64("Bearer ", "?>?>", url_safe=True),
}


def holds_secret(*data: bytes) -> bool:
    search = Search()
    for each in data:
        search.text(each.decode("utf-8", "replace"), "answer")
    return bool(search.hits)
