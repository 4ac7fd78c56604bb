"""The program with one flush left out: for every fsync() in its source, and for SQLite's own. Each must be caught.

The places are found in the source, so that a new fsync() has its variant without being listed here. In the child the
call is passed over when it comes from that place.
"""

import ast
import json
import os
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import cfbatch_gui
from tests.prove.child import put
from tests.prove.power_trace import mark

PACKAGE = Path(cfbatch_gui.__file__).parent
FLUSHES = frozenset({"flush_folder", "flush_to_disk", "_flush_folder", "_flush_folders"})
SKIPPED = json.dumps({"skipped": True})  # the mark that a variant leaves where it differs from the program
_DEEPEST = 12  # frames between a place and the call of os.fsync

# Flushes without which nothing is lost, and why: another one follows before anything depends on it.
REPEATED = {
    "filling._flush: os.fsync": "only begins early what flush_to_disk ends",
    "numpy_file._flushing: os.fsync": "only begins early what the end of atomic_writer flushes",
    "filling.fill: flush_folder": "draft.json or job.json is written next, which flushes the folder",
    "folder.create: flush_folder": "planning commits to data.db before a body is written, which flushes the folder",
    "vector_file.new_vectors: flush_folder": "data.db, in the same folder, is committed next",
    "vector_file.rewrite: flush_folder": "data.db, in the same folder, is committed next",
    "ledger_tables.prepare: flush_folder": "the ledger, in the same folder, is committed next",
    "drafts.duplicate: flush_to_disk": "the copy is changed in a transaction, whose end flushes data.db",
    "drafts.duplicate: flush_folder": "that transaction has flushed the folder",
    "files._move_into: _flush_folder": "the manifest is written next, beside the folder",
    "files.append_line_durably: _flush_folder": "the ledger, in the same folder, is committed next",
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A variant. `likely` are words in the names of workloads that are tried before the others."""

    name: str
    install: Callable[[], None]
    likely: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A call of a flush. `first` and `last` are its lines."""

    path: str
    function: str
    flush: str
    first: int
    last: int

    @property
    def name(self) -> str:
        """The module, the function, and what it calls."""
        return f"{Path(self.path).stem}.{self.function}: {self.flush}"


def places() -> list[Place]:
    """Every place in the program at which something is flushed, apart from the bodies of the functions that do it."""
    found: list[Place] = []
    names: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        for place in _places_of(path):
            names[place.name] += 1
            number = names[place.name]
            found.append(place if number == 1 else replace(place, flush=f"{place.flush} ({number})"))
    return found


def _places_of(path: Path) -> Iterator[Place]:
    def visit(node: ast.AST, function: str) -> Iterator[Place]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name in FLUSHES:
                return
            function = node.name
        flush = _flush_of(node)
        if flush:
            assert isinstance(node, ast.expr) and node.end_lineno is not None
            yield Place(str(path), function, flush, node.lineno, node.end_lineno)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, function)

    yield from visit(ast.parse(path.read_text("utf-8")), "")


def _flush_of(node: ast.AST) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FLUSHES:
        return node.func.id
    is_fsync = isinstance(node, ast.Attribute) and node.attr in ("fsync", "fdatasync")
    return ast.unparse(node) if is_fsync and isinstance(node, ast.Attribute) else ""


def _without(place: Place) -> None:
    """Pass over the flush of a place, and leave a mark each time."""
    fsync = os.fsync

    def passed_over(descriptor: int) -> None:
        frame: FrameType | None = sys._getframe(1)
        for _ in range(_DEEPEST):
            if frame is None:
                break
            if frame.f_code.co_filename == place.path and place.first <= frame.f_lineno <= place.last:
                mark(SKIPPED)
                return
            frame = frame.f_back
        fsync(descriptor)

    put(os, "fsync", passed_over)


def _synchronous(name: str, level: str) -> None:
    """Open the databases of a name with another level of SQLite's "synchronous"."""
    connect = sqlite3.connect

    class Weak(sqlite3.Connection):
        def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
            if "PRAGMA synchronous" in statement:
                return super().execute(f"PRAGMA synchronous = {level}")
            return super().execute(statement, *parameters)

    def connected(address: Any, *arguments: Any, **named: Any) -> sqlite3.Connection:
        if Path(str(address).partition("?")[0]).name != name:
            found: sqlite3.Connection = connect(address, *arguments, **named)
            return found
        database: sqlite3.Connection = connect(address, *arguments, factory=Weak, **named)
        database.execute("PRAGMA synchronous")
        mark(SKIPPED)
        return database

    put(sqlite3, "connect", connected)


def _fits(place: Place) -> tuple[str, ...]:
    """Where a place is likely to be passed."""
    if "/exports/" in place.path or place.function in ("_move_into", "atomic_folder"):
        return ("export",)
    return {
        "vector_file": ("collect: vectors", "mend"),
        "drafts": ("duplicate",),
        "paths": ("first start",),
    }.get(Path(place.path).stem, ()) + (("delete",) if place.function == "delete" else ())


# The two of which nothing else in the tests takes notice; they come first.
SUBMISSIONS = "without files._append: os.fsync"
LEDGER_OFF = "ledger.db at synchronous = OFF"


def mutants() -> list[Mutant]:
    """All variants."""
    found = [
        Mutant(f"without {place.name}", partial(_without, place), _fits(place))
        for place in places()
        if place.name not in REPEATED
    ]
    levels = [("ledger.db", "OFF"), ("ledger.db", "FULL"), ("data.db", "OFF"), ("data.db", "FULL")]
    found += [Mutant(f"{name} at synchronous = {level}", partial(_synchronous, name, level)) for name, level in levels]
    return sorted(found, key=lambda mutant: mutant.name not in (SUBMISSIONS, LEDGER_OFF))
