"""Kills while results are exported: the final path must hold nothing, the old file, or the complete new one."""

import io
import json
import os
import shutil
import signal
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cfbatch_gui.cli import export as export_command
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import TARGETS
from tests.prove.compare import Breach, Finding, unfinished_files
from tests.prove.steps import Hit, Step, after_call, before_call, half_written
from tests.prove.world import Command, Prepare, World, nothing, wrap

OLD = b"what the user had before\n"
# A screening, which only the window begins, is written as other own sheets are.
SUFFIXES = {(each.kind, each.name): (*each.suffixes, "")[0] for each in TARGETS if not each.is_of_screening}
# A row without a text, so that lists of failed and omitted rows are not empty.
INCOMPLETE = {Kind.RANK: "Which cat is meant?,,1\n", Kind.EMBED: '" "\n'}
# The steps of an export at which it can be killed: every operation on a file.
STEPS: dict[str, Callable[[Hit], None]] = {
    "a file half written": half_written(lambda _: True),
    "a file or a folder flushed": after_call(os, "fsync"),
    "before a file takes its place": before_call(Path, "replace"),
    "a file in its place": after_call(Path, "replace"),
    "an old file removed": after_call(Path, "unlink"),
}
Files = dict[str, bytes]


class ExportCase(NamedTuple):
    """A form of export, and whether an older one is to be replaced. A folder's name has no suffix."""

    kind: Kind
    form: str
    with_old: bool

    @property
    def name(self) -> str:
        return f"{self.kind.value}-{self.form}{SUFFIXES[self.kind, self.form]}"


class Exporting:
    """A finished job of each kind in a world, and what its exports are when they are not killed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._whole: dict[ExportCase, Files] = {}
        for kind in Kind:
            command = world.new_job(kind, rows=60)
            with (world.root / f"{list(world.owed)[-1]}.csv").open("a", encoding="utf-8") as file:
                file.write(INCOMPLETE[kind])
            world.start(command)
        self._ids = {job.kind: job.id for job in world.jobs()}
        assert world.start(world.cfbatch("search", self._ids[Kind.EMBED], "a question")) == 0, world.log.read_text()
        self.cases = [ExportCase(*form, with_old) for form in SUFFIXES for with_old in (False, True)]

    def steps(self, cases: Sequence[ExportCase]) -> Iterator[tuple[ExportCase, str, int]]:
        """Every step of these cases, with its turn. Each case is first exported without a kill."""
        for case in cases:
            log = self.world.root / "steps"
            log.unlink(missing_ok=True)
            self._export_whole(case, partial(_count, log))
            for step, count in Counter(log.read_text().splitlines()).items():
                yield from ((case, step, turn) for turn in range(1, count + 1))

    def kill_at_random(self) -> None:
        """Kill an export at a moment between the writer's call and its end."""
        case = self.world.rng.choice(self.cases)
        self._prepare(case)
        seconds = self.world.rng.uniform(0.0, self.world.spans["export"])

        def in_a_while(*_: object, **__: object) -> None:
            signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))  # whose signal ends the process on the spot

        status = self.world.start(self._command(case), lambda: wrap(export_command, "export", before=in_a_while))
        self.world.spans["export"] *= 1.01 if status < 0 else 0.92
        self._look(case)

    def kill_at(self, case: ExportCase, step: str, turn: int) -> None:
        self._prepare(case)
        if self.world.start(self._command(case), lambda: Step(step, STEPS[step]).arm(turn)) >= 0:
            self.world.found.append(Finding(Breach.UNREACHED, f"{case}: never came to “{step}”"))
        self._look(case)

    def _export_whole(self, case: ExportCase, prepare: Prepare = nothing) -> None:
        """Export once without a kill, to know the files."""
        if case.with_old:
            self._prepare(case)
        assert self.world.start(self._command(case), prepare) == 0, f"{case}: {self.world.log.read_text()}"
        self._whole[case] = {name: (self.world.out / name).read_bytes() for name in self._names(case)}

    def _command(self, case: ExportCase) -> Command:
        return self.world.cfbatch(
            "export", self._ids[case.kind], "--format", case.form, "--out", self.world.out / case.name
        )

    def _prepare(self, case: ExportCase) -> None:
        """Remove the exported files, or replace them by older files of the same names."""
        new = case._replace(with_old=False)
        if new not in self._whole:
            self._export_whole(new)
        self._whole.setdefault(case, self._whole[new])
        for name in self._names(case):
            (self.world.out / name).unlink()
        shutil.rmtree(self.world.out / case.name, ignore_errors=True)
        for name in self._whole[case] if case.with_old else ():
            (self.world.out / name).parent.mkdir(exist_ok=True)
            (self.world.out / name).write_bytes(OLD)

    def _look(self, case: ExportCase) -> None:
        """Each file must be the old or the new one, and a manifest means that all files are of one export."""
        are_new, manifest = {}, f"{case.name}.manifest.json"
        for name, new in self._whole[case].items():
            path = self.world.out / name
            content = path.read_bytes() if path.exists() else None
            are_new[name] = _is_same(name, content, new)
            is_old = content == (OLD if case.with_old else None) or (name == manifest and content is None)
            if not are_new[name] and not is_old:
                size = "absent" if content is None else f"{len(content)} bytes"
                self._torn(f"{case}: {name} is {size}")
        if (self.world.out / manifest).exists() and len(set(are_new.values())) > 1:
            self._torn(f"{case}: a manifest beside files that it does not speak of")
        if are_new.get(case.name) and not all(is_new for name, is_new in are_new.items() if name != manifest):
            self._torn(f"{case}: new, and what belongs to it is not")
        self.world.start(self.world.resume())
        self.world.found += unfinished_files(self.world.out, self.world.root / "tmp", self.world.paths.root)

    def _torn(self, words: str) -> None:
        self.world.found.append(Finding(Breach.TORN, words))

    def _names(self, case: ExportCase) -> list[str]:
        """The names of the existing files of this form, with "/" between folders."""
        start, out = f"{case.kind.value}-{case.form}", self.world.out
        names = [path.relative_to(out).as_posix() for path in sorted(out.rglob("*")) if path.is_file()]
        return [name for name in names if name.startswith((f"{start}.", f"{start}/"))]


def _count(log: Path) -> None:
    """Append the name of each step that this process reaches to `log`."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for name, install in STEPS.items():
        install(partial(os.write, descriptor, f"{name}\n".encode()))


def _is_same(name: str, content: bytes | None, new: bytes) -> bool:
    """Whether two files have the same bytes, ignoring the time of writing in a manifest and a workbook."""
    try:
        return content is not None and _without_time(name, content) == _without_time(name, new)
    except (ValueError, zipfile.BadZipFile):
        return False


def _without_time(name: str, content: bytes) -> object:
    if name.endswith(".manifest.json"):
        return {**json.loads(content), "written_at": ""}
    if name.endswith(".xlsx"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {part: archive.read(part) for part in archive.namelist() if part != "docProps/core.xml"}
    return content
