"""A data folder, its account at the practice service, and the user's actions: start, kill, start again, decide."""

import random
import secrets
import shutil
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from tests.canary import TOKEN
from tests.prove import child
from tests.prove.child import Command, Decision, Ended, Prepare
from tests.prove.compare import Breach, Comparison, Finding, Key, command_of, unfinished_files, write_input
from tests.support.practice import Accepted, accepted


@dataclass(frozen=True, slots=True)
class Service:
    """A practice service in a separate process. `folder` holds its queue, with its record of accepted batches."""

    url: str
    folder: Path


@dataclass
class World:
    """`prepare` is called in every child process before the program starts: does nothing, or installs a variant."""

    root: Path
    service: Service
    rng: random.Random
    prepare: Prepare = child.nothing
    account: str = field(default_factory=lambda: secrets.token_hex(16))
    kills: int = 0
    told_again: Counter[Key] = field(default_factory=Counter)
    owed: dict[str, Path] = field(default_factory=dict)  # by the job's name

    def __post_init__(self) -> None:
        self.paths = Paths(self.root / "data")
        self.out = self.root / "out"
        for folder in (self.out, self.root / "tmp"):
            folder.mkdir(parents=True)

    @property
    def accepted(self) -> list[Accepted]:
        """The batches that the practice service accepted from this world."""
        return [each for each in accepted(self.service.folder) if each.account == self.account]

    @property
    def answered(self) -> list[Accepted]:
        """The synchronous calls that the practice service answered for this world."""
        return [each for each in accepted(self.service.folder, is_queued=False) if each.account == self.account]

    def start(self, command: Command, *, prepare: Prepare = child.nothing, kill_after: float | None = None) -> Ended:
        """Run the program once and possibly kill it. `prepare` is called after the world's own."""
        return self.end(self.begin(command, prepare=prepare), kill_after=kill_after)

    def begin(self, command: Command, *, prepare: Prepare = child.nothing) -> int:
        """The first half of `start`: start the child; its process id."""

        def both() -> None:
            self.prepare()
            prepare()

        return child.begin(command, self._environ(), self.root / "child.log", both)

    def end(self, process: int, *, kill_after: float | None = None) -> Ended:
        """The second half of `start`: wait for the child, or kill it after so many seconds."""
        ended = child.end(process, kill_after=kill_after)
        if ended.was_killed:
            self.kills += 1
        return ended

    def new_job(self, kind: Kind, *, rows: int, with_output: bool = False, synchronous: bool = False) -> Command:
        """`cfbatch run` for a new input file."""
        name = f"job {len(self.owed) + 1}"
        path = write_input(self.root / f"{name}.csv", kind, self.rng, rows=rows)
        output = self.out / f"{name}.{'csv' if kind is Kind.RANK else 'npy'}"
        self.owed[name] = output if with_output else Path()
        outputs = [output] if with_output else []
        more = ["--at-once"] if synchronous else []
        more += ["--no-reuse"] if self.rng.random() < 0.5 else []
        return child.cfbatch(*command_of(path, kind, name, outputs), *more, "--data-dir", self.paths.root)

    def resume(self) -> Command:
        """`cfbatch resume` for all jobs."""
        return child.cfbatch("resume", "--data-dir", self.paths.root)

    def decision(self) -> Command | None:
        """The user's random decision about a batch with an unknown outcome; None when there is none."""
        found = [batch for job in self.jobs() for batch in job.batches if batch.state is BatchState.OUTCOME_UNKNOWN]
        if not found:
            return None
        batch = self.rng.choice(found)
        what: Decision = self.rng.choice(("adopt", "again", "dismiss"))
        key = (batch.job_id, batch.number)
        if what == "again":
            self.told_again[key] += 1
        return child.decide(self.paths.root, *key, what, self._id_to_adopt(batch))

    def jobs(self) -> Sequence[Job]:
        """All jobs. To be called while the program does not run."""
        with closing(Ledger.open_read_only(self.paths)) as ledger:
            return ledger.jobs()

    def look(self) -> list[Finding]:
        """Findings directly after a kill, before the program is started again."""
        return self._comparison().run(settled=False)

    def settle(self) -> list[Finding]:
        """Start the program again, wait for its end, and compare."""
        ended = self.start(self.resume())
        found = []
        if ended.was_killed:
            found.append(Finding(Breach.STUCK, "“cfbatch resume” did not come to an end"))
        if ended.status not in (0, 1, 3):
            found.append(Finding(Breach.STUCK, f"“cfbatch resume” ended with {ended.status}"))
        found += self._comparison().run(settled=True)
        found += unfinished_files(self.paths.root, self.out, self.root / "tmp")
        return found + self._outputs()

    def settle_without_ledger(self) -> list[Finding]:
        """As `settle`, after deleting or damaging the ledger: accepted batches must be known from the other files."""
        self.told_again.update({(job.id, batch.number): 9 for job in self.jobs() for batch in job.batches})
        if self.rng.random() < 0.5:
            self.paths.ledger.unlink()
        else:
            self.paths.ledger.write_bytes(self.rng.randbytes(self.paths.ledger.stat().st_size))
        self.start(self.resume(), kill_after=self.rng.uniform(0, 0.1))
        return self.settle()

    def remove(self) -> None:
        """Delete the world's folder. The practice service's record is kept."""
        shutil.rmtree(self.root)

    def _comparison(self) -> Comparison:
        return Comparison(self.paths, self.accepted, self.answered, self.told_again)

    def _outputs(self) -> list[Finding]:
        """Findings for files asked for with --out that are missing although their job is done."""
        done = {job.name for job in self.jobs() if job.batches and job.batches_done == len(job.batches)}
        return [
            Finding(Breach.TORN, f"{path.name} is missing though its job is done")
            for name, path in self.owed.items()
            if name in done and path != Path() and not path.exists()
        ]

    def _id_to_adopt(self, batch: Batch) -> str:
        """The request id that a user would find for the batch; a wrong one when there is none."""
        own = [each.request_id for each in self.accepted if each.sha256 == batch.sha256]
        other = [each.request_id for each in self.accepted] or ["00000000-0000-0000-0000-000000000000"]
        return self.rng.choice(own or other)

    def _environ(self) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.root),
            "TMPDIR": str(self.root / "tmp"),
            "CLOUDFLARE_API_BASE_URL": self.service.url,
            "CLOUDFLARE_ACCOUNT_ID": self.account,
            "CLOUDFLARE_API_TOKEN": TOKEN,
        }
