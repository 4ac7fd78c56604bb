"""What the window remembers of its tables and pages."""

from typing import Protocol

from cfbatch_gui.core.program import Program


class Memory(Protocol):
    def get(self, key: str) -> str: ...

    def set(self, key: str, value: str) -> None: ...


class SettingsMemory:
    """Short texts in the settings; saved a little later, and a failure to save is ignored."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def get(self, key: str) -> str:
        return self._program.settings.table_layouts.get(key, "")

    def set(self, key: str, value: str) -> None:
        layouts = self._program.settings.table_layouts
        if layouts.get(key, "") != value:
            self._program.change_settings(table_layouts={**layouts, key: value})
