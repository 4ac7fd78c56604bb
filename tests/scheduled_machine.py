"""A machine as a schedule finds it: a home, the command in its PATH, and a folder with the file to rank."""

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cfbatch_gui.core.resources import resource
from tests.journeys.terminal import ACCOUNT, read_csv

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "scheduling.md"
FILES: Final = ROOT / "docs" / "scheduling"
TOKEN: Final = (
    "token-of-the-practice-service-0123456789"  # not the one that is searched for: here a file has to hold it
)
RUN: Final = "run questions.csv --rank --connection cloudflare --budget 0.50 --out ranked.csv --data-dir data"
BOTH: Final = [["resume", "--data-dir", "data"], RUN.split()]
NEEDS_A_PERSON: Final = {1, 2, 3, 5}  # exit statuses that another try does not change
ROWS: Final = 82


def text_of(name: str) -> str:
    """One of the files that the page shows."""
    return (FILES / name).read_text("utf-8")


def fields_of_cron() -> str:
    """When the line of the crontab is run; the other examples are for the same time."""
    return " ".join(text_of("crontab").splitlines()[-1].split()[:5])


@dataclass(frozen=True)
class Machine:
    """`account` are the variables of an account whose service is at an address, without the token."""

    home: Path
    work: Path
    account: dict[str, str]

    @classmethod
    def made(cls, folder: Path, url: str) -> "Machine":
        """A new one below a folder; its service is at this address."""
        account = {"CLOUDFLARE_ACCOUNT_ID": ACCOUNT, "CLOUDFLARE_API_BASE_URL": url}
        machine = cls(folder / "home", folder / "home" / "cfbatch", account)
        machine.work.mkdir(parents=True)
        shutil.copy(resource("examples/help-centre-ranking.csv"), machine.work / "questions.csv")
        machine.command.parent.mkdir()
        words = shlex.join([sys.executable, "-m", "cfbatch_gui.cli.main"])
        machine._write_command(f'PYTHONPATH={shlex.quote(str(ROOT))} exec {words} "$@"\n')
        return machine

    @property
    def command(self) -> Path:
        return self.home / "bin" / "cfbatch"

    @property
    def path(self) -> str:
        return f"{self.command.parent}:{os.environ['PATH']}"

    def sh(self, command: str, environ: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        """Run a command as cron does: by sh, in the home, with next to no environment."""
        known = {"HOME": str(self.home), "PATH": self.path, "SHELL": "/bin/sh", **(environ or {})}
        shell = ["/bin/sh", "-c", command]
        return subprocess.run(shell, cwd=self.home, env=known, capture_output=True, text=True, check=False, timeout=240)

    def ranked_rows(self) -> int:
        return len(read_csv(self.work / "ranked.csv"))

    def only_ends(self, status: int) -> None:
        """From now on the command says something on each stream, and ends; it notes what it was given."""
        notes = 'printf "%s\\n" "$*" >>started\nenv >environ\n'
        self._write_command(f'{notes}echo "a text"\necho "how it goes" >&2\nexit {status}\n')

    def started(self) -> list[list[str]]:
        """The words of each start since `only_ends`."""
        return [line.split() for line in (self.work / "started").read_text("utf-8").splitlines()]

    def environ_of_start(self) -> set[str]:
        """NAME=VALUE of the last start since `only_ends`."""
        return set((self.work / "environ").read_text("utf-8").splitlines())

    def _write_command(self, script: str) -> None:
        self.command.write_text(f"#!/bin/sh\n{script}")
        self.command.chmod(0o755)
