"""Kills while results are exported: the final path must hold nothing, the old file, or the complete new one."""

import io
import json
import os
import resource
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.core.inputs.input_values import Kind
from tests.prove import child
from tests.prove.compare import Breach, Finding, unfinished_files
from tests.prove.steps import Step, after_call, before_call, half_written, wrap
from tests.prove.takeaways import TAKEAWAYS, Jobs, Takeaway
from tests.prove.world import World

ROWS = 60
FULL = ExitStatus.FAILED
OLD = b"what the user had before\n"
FORMS = {(each.kind, each.name): each for each in TAKEAWAYS}
# A row without a text for each kind of job, so that lists of failed and omitted rows are not empty.
INCOMPLETE = {Kind.RANK: "Which cat is meant?,,1", Kind.EMBED: '" "'}

Hit = Callable[[], None]
# The steps of an export at which it can be killed: every operation on a file.
STEPS: dict[str, Callable[[Hit], None]] = {
    "a file half written": half_written(lambda _: True),
    "a file or a folder flushed": after_call(os, "fsync"),
    "before a file takes its place": before_call(Path, "replace"),
    "a file in its place": after_call(Path, "replace"),
    "the old manifest aside": after_call(Path, "rename"),
    "an old file removed": after_call(Path, "unlink"),
}


@dataclass(frozen=True, slots=True)
class ExportCase:
    """A kind of job, an export form, and whether an older file is to be replaced."""

    kind: Kind
    form: str
    with_old: bool


@dataclass(frozen=True)
class Exporting:
    """Finished jobs, and their exports when they are not killed.

    `forms` are the forms to test, `whole` the content of their files by name, `counts` how often each step is reached,
    `seconds` their duration. The name of an exported folder has no suffix.
    """

    world: World
    forms: list[tuple[Kind, str]]
    jobs: Jobs
    whole: dict[tuple[Kind, str], dict[str, bytes]]
    counts: dict[ExportCase, Counter[str]]
    seconds: dict[tuple[Kind, str], float]

    def steps(self) -> Iterator[tuple[ExportCase, str, int]]:
        """Yield every step of every form, with its turn. Each form is first exported without a kill."""
        for kind, form in self.forms:
            for case in (ExportCase(kind, form, False), ExportCase(kind, form, True)):
                self._prepare_form(case)
                for step, count in self.counts[case].items():
                    yield from ((case, step, turn) for turn in range(1, count + 1))

    def kill_at_random(self) -> list[Finding]:
        """Kill a random export at a random moment between its first and its last call; the findings."""
        case = self.world.rng.choice(list(self.counts))
        seconds = self.world.rng.uniform(0.0, 1.1 * self.seconds[case.kind, case.form])
        self._prepare_case(case)
        self._export(case, kill_after=seconds)
        return self._look(case)

    def kill_at(self, case: ExportCase, step: str, turn: int) -> list[Finding]:
        """Kill an export at a step; the findings."""
        self._prepare_case(case)
        ended = self.world.start(self._command(case), prepare=lambda: Step(step, STEPS[step]).arm(turn))
        unreached = [] if ended.was_killed else [Finding(Breach.UNREACHED, f"{case}: never came to “{step}”")]
        return [*unreached, *self._look(case)]

    def fill_disk_at(self, case: ExportCase, room: int) -> list[Finding]:
        """Export while no file can exceed `room` bytes: it must report a full disk and leave older files unchanged."""
        self._prepare_case(case)
        ended = self.world.start(self._command(case), prepare=lambda: _leave_room(room, self._form(case)))
        is_whole = all(self._now(name) is not None for name in self.whole[case.kind, case.form])
        if ended.status == 0:
            found = [] if is_whole else [Finding(Breach.TORN, f"{case}: said to be done on a full disk")]
        else:
            known = ended.status == FULL and not ended.was_killed
            found = [] if known else [Finding(Breach.STUCK, f"{case}: ended with {ended.status} on a full disk")]
        return [*found, *self._look(case)]

    def half_of(self, case: ExportCase) -> int:
        """Half of the largest file's size in bytes: a limit that is reached in the middle of that file."""
        return max(map(len, self.whole[case.kind, case.form].values())) // 2

    def _prepare_form(self, case: ExportCase) -> None:
        """Export once without a kill, and record the files, the counts of steps and the duration."""
        if case.with_old:
            self._prepare_case(case)
        log = self.world.root / "steps"
        log.unlink(missing_ok=True)
        ended = self.world.start(self._command(case), prepare=lambda: _count(log))
        assert ended.status == 0, f"{case}: {(self.world.root / 'child.log').read_text()}"
        self.counts[case] = Counter(log.read_text().splitlines())
        if not case.with_old:
            self.whole[case.kind, case.form] = {name: self._path(name).read_bytes() for name in self._names(case)}
            self.seconds[case.kind, case.form] = ended.seconds

    def _export(self, case: ExportCase, *, kill_after: float) -> None:
        """Export and kill. The time is counted from the call of the writer, which the child signals through a pipe."""
        begun, saying = os.pipe()

        def say_begun(*_: object, **__: object) -> None:
            os.write(saying, b"!")

        def say() -> None:
            wrap(*self._form(case).writer, before=say_begun)

        process = self.world.begin(self._command(case), prepare=say)
        os.close(saying)
        os.read(begun, 1)
        os.close(begun)
        self.world.end(process, kill_after=kill_after)

    def _command(self, case: ExportCase) -> child.Command:
        return self._form(case).command(self.jobs, self._path(self._main(case)))

    def _prepare_case(self, case: ExportCase) -> None:
        """Remove the exported files, or replace them by older files of the same names."""
        for name in self._names(case):
            self._path(name).unlink()
        folder = self._path(self._main(case))
        if folder.is_dir():
            shutil.rmtree(folder)
        for name in self.whole[case.kind, case.form] if case.with_old else ():
            self._path(name).parent.mkdir(exist_ok=True)
            self._path(name).write_bytes(OLD)

    def _look(self, case: ExportCase) -> list[Finding]:
        """Findings about the files as they are now, and about unfinished ones after the next start.

        Each file must be the old or the new one. A manifest means that all files are of one export: while several files
        are replaced one after the other, there must be none.
        """
        before = OLD if case.with_old else None
        whole = self.whole[case.kind, case.form]
        found, are_new = [], {}
        manifest = f"{self._main(case)}.manifest.json"
        for name, new in whole.items():
            content = self._now(name)
            are_new[name] = _is_same(name, content, new)
            if not are_new[name] and content != before and not (name == manifest and content is None):
                size = "absent" if content is None else f"{len(content)} bytes"
                found.append(Finding(Breach.TORN, f"{case}: {name} is {size}"))
        is_said = self._now(manifest) is not None
        if is_said and any(is_new is not are_new[manifest] for is_new in are_new.values()):
            found.append(Finding(Breach.TORN, f"{case}: a manifest beside files that it does not speak of"))
        main = self._main(case)
        if are_new.get(main) and not all(is_new for name, is_new in are_new.items() if name != manifest):
            found.append(Finding(Breach.TORN, f"{case}: new, and what belongs to it is not"))
        world = self.world
        world.start(world.resume())
        return found + unfinished_files(world.out, world.root / "tmp", world.paths.root)

    def _main(self, case: ExportCase) -> str:
        return f"{case.kind.value}-{case.form}{self._form(case).suffix}"

    def _form(self, case: ExportCase) -> Takeaway:
        return FORMS[case.kind, case.form]

    def _names(self, case: ExportCase) -> list[str]:
        """The names of the existing files of this form, with "/" between folders."""
        start, out = f"{case.kind.value}-{case.form}", self.world.out
        found = (path for path in out.rglob("*") if path.is_file())
        names = (path.relative_to(out).as_posix() for path in found)
        return sorted(name for name in names if name.startswith((f"{start}.", f"{start}/")))

    def _now(self, name: str) -> bytes | None:
        path = self._path(name)
        return path.read_bytes() if path.exists() else None

    def _path(self, name: str) -> Path:
        return self.world.out / name


def prepare(world: World, share: slice = slice(None), every: int = 1) -> Exporting:
    """Run the jobs. `share` selects the forms to test, from every Nth of all forms."""
    ids = [_run(world, kind) for kind in (Kind.RANK, Kind.EMBED, Kind.RANK)]
    jobs = Jobs(world.paths.root, {Kind.RANK: ids[0], Kind.EMBED: ids[1]}, second=ids[2])
    return Exporting(world, list(FORMS)[::every][share] or list(FORMS), jobs, {}, {}, {})


def _run(world: World, kind: Kind) -> str:
    """Run a job whose input has a row that cannot be sent; its id."""
    command = world.new_job(kind, rows=ROWS)
    name = list(world.owed)[-1]
    with (world.root / f"{name}.csv").open("a", encoding="utf-8") as file:
        file.write(f"{INCOMPLETE[kind]}\n")
    ended = world.start(command)
    found = [job.id for job in world.jobs() if job.name == name]
    assert found, f"{name} is not there: {ended}\n{(world.root / 'child.log').read_text('utf-8')}"
    return found[0]


def _leave_room(size: int, form: Takeaway) -> None:
    """Limit the files of this process to `size` bytes while the writer runs, but not its output to the terminal."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    owner, name = form.writer
    write = getattr(owner, name)

    def limited(*arguments: Any, **named: Any) -> Any:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            return write(*arguments, **named)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    child.put(owner, name, limited)


def _count(log: Path) -> None:
    """Append the name of each step that this process reaches to `log`."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(step: str) -> None:
        os.write(descriptor, f"{step}\n".encode())

    for name, install in STEPS.items():
        install(partial(note, name))


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
