"""The settings file. It holds no secrets; those are in the keyring."""

import logging
import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import keep_aside, write_own_file

if TYPE_CHECKING:
    from concurrent.futures import Executor

VERSION = 1  # the first migration will go by it

_log = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())  # or what is said of damaged settings would be printed before there is a log


@dataclass(frozen=True, slots=True)
class SavedConnection:
    """A connection without its secrets, which are in the keyring under its `id`, never reused.

    `by_header` selects the gateway by a header; `collects` and `keep_days` concern a Worker.
    """

    id: str
    name: str
    kind: Literal["cloudflare", "worker", "gateway"]
    account_id: str = ""
    url: str = ""
    gateway: str = ""
    by_header: bool = False
    paid_plan: bool = False
    collects: bool = False
    keep_days: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent unasked, in the unit, before the free allowance; 0.0 is no limit. A day is of UTC."""

    a_job: float = 0.0
    a_day: float = 0.0
    unit: Literal["dollars", "neurons"] = "dollars"


@dataclass(frozen=True, slots=True)
class Learned:
    """What checks of the service have shown: whether a model takes batches, and whether elements repeat references.

    None is for not known. `at` is in seconds since 1970, 0.0 without a check; `account_mark` is the account's then.
    """

    connection: str = ""
    model: str = ""
    account_mark: str = ""
    queue: bool | None = None
    references: bool | None = None
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. Immutable: changed by `dataclasses.replace`, and saved as a whole."""

    theme: str = "system"  # or "light", "dark", "high-contrast"
    language: str = ""  # the code of a language of ours; "" for the system's
    connection: str = ""  # the id of the default connection of new jobs; "" until one was chosen
    model: str = "@cf/baai/bge-m3"
    connections: tuple[SavedConnection, ...] = ()  # besides the practice service
    learned: tuple[Learned, ...] = ()  # one for each connection and model
    last_folder: str = ""  # for anything
    folders: dict[str, str] = field(default_factory=dict)  # the one used last, by the kind of file: see FolderUse
    window: str = ""  # the window's geometry as Qt saves it, base64
    table_layouts: dict[str, str] = field(default_factory=dict)  # column widths and order by the table's name, base64
    seen_close_note: bool = False
    practice_waits: bool = True  # whether a practice batch takes some seconds, as a real one takes minutes
    forget_after_export: bool = False  # whether a finished job's texts are removed once all of it was exported
    for_developers: bool = False  # whether pages and menus show what developers alone need
    system_notices: bool = True  # whether the desktop tells when a job is finished or needs the user
    budget: Budget = Budget()
    judgement_book: str = ""  # the name of the book that jobs are measured by; "" for the usual one
    judge: str = ""  # the name under which the user judges
    recipes: tuple[dict[str, Any], ...] = ()  # see core/inputs/recipes.py
    version: int = VERSION

    @classmethod
    def load(cls, path: Path) -> "Settings":
        """Read the file; a missing or damaged one means the defaults."""
        return cls._read(path)[0]

    @classmethod
    def _read(cls, path: Path) -> "tuple[Settings, bool]":
        """The settings, and whether the file is damaged. One that may not be read counts as sound."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls), False
        except FileNotFoundError:
            return cls(), False
        except OSError as error:
            _log.warning("Settings in %s cannot be read, defaults are used: %s", path, error)
            return cls(), False
        except (UnicodeDecodeError, msgspec.MsgspecError) as error:
            _log.warning("Settings in %s are damaged: %s", path, error)
            return cls(), True

    def save(self, path: Path) -> None:
        """Replace the file, whole or not at all. Raises DiskFull and DataError."""
        write_own_file(path, msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")


class SettingsStore:
    """The settings, changed at once and saved in order by `disk`; `damage` is a sentence, else ""."""

    def __init__(self, path: Path, disk: "Executor") -> None:
        self._path, self._disk = path, disk
        self.current, is_damaged = Settings._read(path)
        self.damage: str = ""
        if is_damaged:
            name = keep_aside(path) or path.name
            self.damage = message("settings_were_damaged_begin_anew_file", name=name)
        self._will_save = False

    async def keep(self, **changes: object) -> Settings:
        """Change the settings; returns when saved, also when cancelled. Raises DiskFull and DataError."""
        import asyncio  # which whoever only reads settings does without

        self._change(changes)
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._disk, self._save))
        return self.current

    def change(self, **changes: object) -> None:
        """Change the settings without waiting. They are saved before `disk` is shut down; errors are only logged."""
        self._change(changes)
        if not self._will_save:
            self._will_save = True
            with suppress(RuntimeError):  # raised after the executor's shutdown, when nothing is saved any more
                self._disk.submit(self._save_changed)

    def _change(self, changes: dict[str, object]) -> None:
        self.current = replace(self.current, **changes)  # type: ignore[arg-type]  # names are checked by replace

    def _save(self) -> None:
        self.current.save(self._path)  # the current state, so that an older change never overwrites a newer one

    def _save_changed(self) -> None:
        self._will_save = False  # before the save, which may miss changes made from here on
        try:
            self._save()
        except UserError as error:
            _log.warning("The settings were not saved: %s", error.message)


class FolderUse(StrEnum):
    """The kinds of file that are kept in a folder of their own."""

    INPUTS = "inputs"  # files that are opened
    EXPORTS = "exports"
    PICTURES = "pictures"
    COMPARISONS = "comparisons"
    JUDGEMENTS = "judgements"  # in and out
    PROBLEM_ROWS = "problem-rows"
    REQUESTS = "requests"  # of a job, beside its code
    WORKERS = "workers"
    REPORTS = "reports"
    BACKUPS = "backups"


@dataclass(frozen=True, slots=True)
class RememberedFolder:
    """The folder of one kind of file, read from the settings each time it is asked for."""

    settings: SettingsStore
    use: FolderUse

    @property
    def path(self) -> Path | None:
        """The folder that was used last for this kind, else for any; None if neither exists any more."""
        kept = self.settings.current
        names = (kept.folders.get(self.use, ""), kept.last_folder)
        # os.path's, which never raises: a share of a server that is off is neither there nor gone on Windows.
        return next((Path(name) for name in names if name and os.path.isdir(name)), None)  # noqa: PTH112

    def keep(self, folder: Path) -> None:
        kept, name = self.settings.current, str(folder)
        if kept.folders.get(self.use) != name or kept.last_folder != name:
            self.settings.change(folders={**kept.folders, self.use.value: name}, last_folder=name)
