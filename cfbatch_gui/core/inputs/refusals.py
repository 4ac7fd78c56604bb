"""Sentences that several kinds of file share."""

from pathlib import Path

from cfbatch_gui.core.errors import InputError


def without_rows(path: Path) -> InputError:
    """Nothing in it."""
    return InputError(f"{path.name} is empty. Choose a file with at least one row.")


def only_header(path: Path) -> InputError:
    """Names of columns, and nothing else."""
    return InputError(f"{path.name} has a header but no rows below it. Choose a file with at least one row.")
