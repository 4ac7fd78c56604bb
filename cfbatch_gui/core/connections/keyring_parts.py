"""Whether this installation has what it needs to use the keyring of a system, whether or not there is one."""

from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Final

_PARTS: Final = {"win32": "Windows", "darwin": "macOS"}  # by sys.platform, under the names of keyring's entry points
_ELSEWHERE: Final = "SecretService"


def has_part_for(platform: str) -> bool:
    """Whether the part for `platform`, a `sys.platform`, can be found as keyring finds it, with what it imports.

    Programs that are packed lose it easily: nothing in the code names it.
    """
    name = _PARTS.get(platform, _ELSEWHERE)
    for entry_point in entry_points(group="keyring.backends", name=name):
        try:
            part = entry_point.load()
        except ImportError:
            return False
        # Two of them keep to themselves what they could not import.
        is_whole = not getattr(part, "missing_deps", None)
        return is_whole and (name != _ELSEWHERE or find_spec("secretstorage") is not None)
    return False
