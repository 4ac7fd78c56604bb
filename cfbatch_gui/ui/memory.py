"""What the window remembers of its tables and its own place, kept in the program's settings."""

from cfbatch_gui.core.program import Program


class SettingsMemory:
    """Small texts by key. A change is saved soon; one that cannot be saved is only forgotten."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def get(self, key: str) -> str:
        """The text of a key, "" when there is none."""
        return self._program.settings.table_layouts.get(key, "")

    def set(self, key: str, value: str) -> None:
        """Keep a text."""
        layouts = self._program.settings.table_layouts
        if layouts.get(key, "") != value:
            self._program.change_settings(table_layouts={**layouts, key: value})
