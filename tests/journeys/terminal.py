"""`cfbatch` as a user runs it: its arguments, its environment, its three streams and its exit status."""

import csv
import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Any, Final
from unittest.mock import patch

import keyring
import openpyxl
from keyring.backends import null

from cfbatch_gui.cli.main import main
from cfbatch_gui.core.connections.address_book import PRACTICE_SECONDS_VARIABLE
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.messages import Message
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.system.paths import Paths
from tests.canary import CORE, TOKEN
from tests.support.sentences import codes_of

ACCOUNT = "0123456789abcdef0123456789abcdef"
EXAMPLE = resource("examples/help-centre-ranking.csv")
_NO_KEYRING: Final = null.Keyring()  # type: ignore[no-untyped-call] # none that the program knows
ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "cfbatch_gui.cli.main")
# Runs a command on a terminal of its own, and types a line of stdin whenever it is asked to go on or for a secret.
ON_A_TERMINAL = """
import os, pty, sys

def shown(terminal):
    text = os.read(terminal, 10_000)
    if text.endswith((b"[y/N] ", b"token: ", b"secret: ")):
        os.write(terminal, sys.stdin.buffer.readline())
    return text

sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], shown, lambda keyboard: b"")))
"""


class Heard(logging.Handler):
    """The errors that a command has ended with, as their sentences."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.sentences: list[object] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.sentences += [each for each in record.args or () if isinstance(each, Message)]


@contextmanager
def heard() -> Iterator[Heard]:
    log, handler = logging.getLogger("cfbatch_gui.cli.command_line"), Heard()
    log.addHandler(handler)
    try:
        yield handler
    finally:
        log.removeHandler(handler)


@dataclass
class Ended:
    """`codes` are those of the error's sentence and of the sentences in it, where it ran within this process."""

    status: int
    out: str
    err: str
    codes: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        assert "Traceback" not in self.err
        assert CORE not in self.out + self.err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        (line,) = [line for line in self.err.splitlines() if line.startswith("cfbatch: ")]
        return line.removeprefix("cfbatch: ")


@dataclass
class Terminal:
    """A data folder, and an environment that knows nothing of the one the tests run in."""

    data: Path
    environ: dict[str, str] = field(default_factory=dict)
    entry: Callable[[Sequence[str]], int] = main  # of `run`

    def run(self, *arguments: object, given: str = "") -> Ended:
        """Run a command to its end within this process, which must not run a loop; `given` is its standard input.

        A start of Python and its imports cost more than most commands. `run_apart` is for where the process counts.
        """
        given_stream, out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(3))
        given_stream.write(given)
        given_stream.seek(0)
        before = keyring.get_keyring()
        keyring.set_keyring(_NO_KEYRING)
        try:
            with (
                patch.dict(os.environ, self._environ(), clear=True),
                patch.multiple(sys, stdin=given_stream, stdout=out, stderr=err),
                heard() as errors,
            ):
                status = self.entry([str(argument) for argument in arguments])
        finally:
            keyring.set_keyring(before)
        codes = set[str]().union(*map(codes_of, errors.sentences))
        return Ended(status, _written(out), _written(err), codes)

    def run_apart(self, *arguments: object, timeout: float = 100, given: str = "") -> Ended:
        """Run a command to its end in a process of its own; `given` is its standard input."""
        with self.start(*arguments) as process:
            out, err = process.communicate(given, timeout=timeout)
        return Ended(process.returncode, out, err)

    def run_asked(self, given: str, *arguments: object) -> tuple[int, str]:
        """Run a command on a terminal of its own, which asks for the lines `given`: its status, and all it printed."""
        with self.start_command((sys.executable, "-c", ON_A_TERMINAL, *COMMAND), *arguments) as process:
            out, _ = process.communicate(given, timeout=240)
        assert CORE not in out
        return process.returncode, out

    @contextmanager
    def start(self, *arguments: object) -> Iterator[subprocess.Popen[str]]:
        with self.start_command(COMMAND, *arguments) as process:
            yield process

    @contextmanager
    def start_command(self, command: Sequence[str], *arguments: object) -> Iterator[subprocess.Popen[str]]:
        """`start` with other words before the arguments, such as those of a program that starts the program."""
        process = subprocess.Popen(
            [*command, *map(str, arguments)],
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            text=True,
            encoding="utf-8",
            env=self._environ(),
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def _environ(self) -> dict[str, str]:
        home = self.data.parent / f"home of {self.data.name}"
        return own_environ(home, CFBATCH_DATA_DIR=str(self.data)) | self.environ

    def run_until(self, words: str, then: signal.Signals, *arguments: object) -> Ended:
        """Start a command, and end it by a signal once a line on stderr matches `words`."""
        with self.start(*arguments) as process:
            err = read_until(process, words)
            process.send_signal(then)
            out, rest = process.communicate(timeout=240)
        return Ended(process.returncode, out, err + rest)

    def connect(self, base_url: str, *, token: str = TOKEN) -> None:
        self.environ |= connected(base_url, token)

    def connections(self) -> dict[str, dict[str, Any]]:
        """By their names."""
        return {each["name"]: each for each in self.run("connections", "list", "--json").json["connections"]}

    def jobs(self) -> list[dict[str, Any]]:
        return list(self.run("jobs", "--json").json["jobs"])


def own_environ(home: Path, **more: str) -> dict[str, str]:
    """An environment that knows nothing of the one the tests run in."""
    known = {name: text for name, text in os.environ.items() if name in ("PATH", "TMPDIR", "OPENBLAS_NUM_THREADS")}
    return {**known, "HOME": str(home), "PYTHONPATH": str(ROOT), PRACTICE_SECONDS_VARIABLE: "0", **more}


def connected(base_url: str, token: str = TOKEN) -> dict[str, str]:
    """What connects an account by the environment."""
    return {"CLOUDFLARE_API_BASE_URL": base_url, "CLOUDFLARE_ACCOUNT_ID": ACCOUNT, "CLOUDFLARE_API_TOKEN": token}


def run_well(*command: object, environ: Mapping[str, str], given: str = "") -> str:
    """Run a command to its end, in which nothing may go wrong; what it wrote."""
    words = [str(word) for word in command]
    with subprocess.Popen(words, env=environ, cwd=ROOT, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True) as process:
        out, err = process.communicate(given, timeout=360)
    assert process.returncode == 0 and "Traceback" not in err, f"{out}\n{err}"
    assert CORE not in out + err
    return out


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def read_until(process: subprocess.Popen[str], words: str) -> str:
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if re.search(words, line):
            return "".join(lines)
    raise AssertionError(f"ended without {words!r}: {''.join(lines)}")


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def read_workbook(path: Path) -> list[dict[str, Any]]:
    header, *rows = openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True)
    return [dict(zip(map(str, header), row, strict=True)) for row in rows]


def until(happens: Callable[[], object], seconds: float = 240.0) -> None:
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, "what the test waited for did not come"
        time.sleep(0.02)


def jobs_in(data: Path) -> tuple[Job, ...]:
    """The jobs of a data folder that a program may have open; none where there is no ledger yet."""
    paths = Paths(data)
    if not paths.ledger.exists():
        return ()
    with closing(Ledger.open_read_only(paths)) as ledger:
        return ledger.jobs()
