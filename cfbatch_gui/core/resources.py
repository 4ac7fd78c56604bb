"""The files that ship with the program."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_FOLDERS = (
    _PACKAGE / "resources",  # in the wheel and in a frozen program
    _PACKAGE.parent / "resources",  # in a checkout
)


def resource(name: str) -> Path:
    """The path below resources/, with forward slashes. Raises FileNotFoundError."""
    for folder in _FOLDERS:
        path = folder / name
        if path.exists():
            return path
    raise FileNotFoundError(name)
