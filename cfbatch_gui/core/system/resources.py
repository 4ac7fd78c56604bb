"""Files that ship with the program: icons, example data, templates."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]
_FOLDERS = (
    _PACKAGE / "resources",  # in the wheel and in a frozen program
    _PACKAGE.parent / "resources",  # in a checkout
)


def resource(name: str) -> Path:
    """The path of a file or folder below resources/, named with forward slashes ("icons/plus.svg").

    Raises FileNotFoundError with the name: a missing resource means a broken installation, not a user's mistake.
    """
    for folder in _FOLDERS:
        path = folder / name
        if path.exists():
            return path
    raise FileNotFoundError(name)
