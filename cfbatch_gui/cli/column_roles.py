"""`--role COLUMN=ROLE`."""

import argparse
from dataclasses import dataclass

from cfbatch_gui.core.inputs.input_values import Role


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """One `--role`."""

    column: str
    role: Role


def column_role(text: str) -> ColumnRole:
    """Read COLUMN=ROLE, for argparse. A column's name may hold "=" itself."""
    column, separator, role = text.rpartition("=")
    if not separator or not column:
        raise argparse.ArgumentTypeError(f"“{text}” should be COLUMN=ROLE, for example title=text")
    try:
        return ColumnRole(column, Role(role.strip().lower()))
    except ValueError:
        words = ", ".join(Role)
        raise argparse.ArgumentTypeError(f"“{role}” is not a role; the roles are {words}") from None
