"""docs/scheduling.md and its files: the page shows each file as it is, and the commands in them do what it says.

They run as a schedule runs them, by a shell and a process, against the practice service behind a token.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from cfbatch_gui.cli.console import ExitStatus
from tests.scheduled_machine import BOTH, FILES, NEEDS_A_PERSON, PAGE, ROWS, RUN, TOKEN, Machine, text_of
from tests.support.practice import PracticeServer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="what is shown is for systems with a shell")

WRONG = "token-that-the-service-does-not-know-000"


# The page


def test_the_page_shows_every_file_as_it_is() -> None:
    shown = re.findall(r"\[([\w.-]+)\]\(scheduling/\1\)[^`]*\n```\w+\n(.*?)```\n", PAGE.read_text("utf-8"), re.DOTALL)
    assert dict(shown) == {path.name: path.read_text("utf-8") for path in FILES.iterdir() if path.is_file()}


def rows_of_statuses() -> dict[int, tuple[str, str]]:
    section = PAGE.read_text("utf-8").split("## How a command ends")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \| [^|]+ \| ?(\w*) ?\|$", section, re.MULTILINE)
    return {int(number): (words.strip(), again) for number, words, again in rows}


def test_the_table_has_every_exit_status_in_the_words_of_the_help() -> None:
    words = {int(status): str(status.words) or status.name.lower() for status in ExitStatus}
    assert {number: each for number, (each, _) in rows_of_statuses().items()} == words


def test_what_is_tried_again_is_the_same_everywhere() -> None:
    assert {number for number, (_, again) in rows_of_statuses().items() if again == "no"} == NEEDS_A_PERSON
    prevented = re.findall(r"^RestartPreventExitStatus=(.+)$", text_of("cfbatch.service"), re.MULTILINE)
    assert [set(map(int, each.split())) for each in prevented] == [NEEDS_A_PERSON]


def test_every_example_sends_by_the_same_line() -> None:
    """Also those whose commands no test below runs as they stand."""
    assert PAGE.read_text("utf-8").count(f"    cfbatch resume --data-dir data && cfbatch {RUN}\n") == 1
    for name in ("crontab", "cfbatch.service", "cfbatch-credential.conf", "github-actions.yml"):
        said = text_of(name)
        assert f"cfbatch {RUN}" in said
        assert said.index("resume") < said.index(f"cfbatch {RUN}"), "what was cut would be sent again"


# A machine and a service


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with PracticeServer(tmp_path_factory.mktemp("service"), token=TOKEN) as server:
        yield server.url


@pytest.fixture
def machine(tmp_path: Path, url: str) -> Machine:
    return Machine.made(tmp_path, url)


# cron


def cron_command() -> str:
    return text_of("crontab").splitlines()[-1].split(maxsplit=5)[5]


def write_account(machine: Machine, token: str) -> None:
    lines = (f"{name}={value}\n" for name, value in {**machine.account, "CLOUDFLARE_API_TOKEN": token}.items())
    (machine.work / "account.env").write_text("".join(lines))


def test_the_line_of_cron_prints_what_failed_with_its_exit_status_or_ranks_and_prints_nothing(machine: Machine) -> None:
    write_account(machine, WRONG)
    done = machine.sh(cron_command())
    assert (done.returncode, done.stderr) == (4, "")
    assert "Cloudflare refused the API token" in done.stdout and "cfbatch resume" in done.stdout
    assert not (machine.work / "ranked.csv").exists()
    write_account(machine, TOKEN)
    done = machine.sh(cron_command())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert machine.ranked_rows() == ROWS
    log = (machine.work / "cfbatch.log").read_text("utf-8")
    assert "is done: 82 texts" in log and TOKEN not in log


# systemd


def write_unit(name: str, folder: Path, command: Path) -> Path:
    """The unit with the command that is here: systemd looks whether it is there."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text_of(name).replace("/usr/bin/cfbatch", str(command)))
    return path


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
@pytest.mark.parametrize("with_credential", [False, True])
def test_systemd_has_nothing_to_say_about_the_units(machine: Machine, tmp_path: Path, *, with_credential: bool) -> None:
    folder = tmp_path / "units"
    units = [write_unit(name, folder, machine.command) for name in ("cfbatch.service", "cfbatch.timer")]
    if with_credential:
        write_unit("cfbatch-credential.conf", folder / "cfbatch.service.d", machine.command)
    environ = {"PATH": os.environ["PATH"], "HOME": str(machine.home), "LC_ALL": "C"}
    verify = ["systemd-analyze", "verify", *map(str, units)]
    done = subprocess.run(verify, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_commands_with_a_credential_are_those_of_the_unit_with_its_token(machine: Machine, tmp_path: Path) -> None:
    credentials = tmp_path / "credentials"
    credentials.mkdir(mode=0o700)
    (credentials / "cloudflare-token").write_text(f"{TOKEN}\n")
    machine.only_ends(0)
    for each in re.findall(r"^ExecStart=(.+)$", text_of("cfbatch-credential.conf"), re.MULTILINE):
        assert "$" not in each.replace("$$", "") and "%" not in each
        words = shlex.split(each.replace("$$", "$").replace("/usr/bin/cfbatch", str(machine.command)))
        assert words[:2] == ["/bin/sh", "-c"] and len(words) == 3
        done = machine.sh(f"cd cfbatch\n{words[2]}", {"CREDENTIALS_DIRECTORY": str(credentials)})
        assert done.returncode == 0, done.stderr
        assert f"CLOUDFLARE_API_TOKEN={TOKEN}" in machine.environ_of_start()
    assert machine.started() == BOTH


# GitHub Actions


def workflow() -> Any:
    return yaml.safe_load(text_of("github-actions.yml"))


def test_the_steps_of_the_workflow_rank_by_the_practice_service(machine: Machine) -> None:
    install, *scripts = [step["run"] for step in workflow()["jobs"]["rank"]["steps"] if "run" in step]
    assert install.startswith("python -m pip install ") and len(scripts) == 2
    for script in scripts:
        practice = script.replace("--connection cloudflare", "--connection practice")
        done = machine.sh(f"cd cfbatch\n{practice}", {"CFBATCH_PRACTICE_SECONDS": "0", "INSTEAD": ""})
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert machine.ranked_rows() == ROWS
