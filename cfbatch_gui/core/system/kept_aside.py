"""A copy of a file that this program cannot read as a whole, made before it is written anew."""

import itertools
import logging
from pathlib import Path

import msgspec

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.system.files import write_own_file

_log = logging.getLogger(__name__)


class _Versioned(msgspec.Struct):
    version: int = 1


def is_of_newer_version(content: bytes, known: int) -> bool:
    """Whether the content is JSON that names a version above `known`, whatever else is in it."""
    try:
        return msgspec.json.decode(content, type=_Versioned).version > known
    except (UnicodeDecodeError, msgspec.MsgspecError):
        return False


def keep_aside(path: Path, word: str) -> str:
    """Copy “recipes.json” to “recipes.WORD-1.json”, or to the next number that is free; the copy's name.

    A copy that is there with the same content is taken for it, so that starts without a change make one. "" when no
    copy can be made, as in a folder that is read-only, in which nothing is written anew either.
    """
    try:
        content = path.read_bytes()
        for number in itertools.count(1):
            aside = path.with_name(f"{path.stem}.{word}-{number}{path.suffix}")
            if not aside.exists():
                write_own_file(aside, content)
                return aside.name
            if aside.read_bytes() == content:
                return aside.name
    except (OSError, UserError) as error:
        _log.warning("No copy of %s was made: %s", path.name, error)
    return ""
