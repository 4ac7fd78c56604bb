"""The files for Airflow and Prefect of docs/scheduling.md: which commands they start, and what they try again.

Modules that record stand in for Airflow and Prefect. Where their programs are in PATH, these run the task and the flow.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from cfbatch_gui.cli.exit_status import ExitStatus
from tests.journeys.terminal import ACCOUNT, practice_service
from tests.scheduled_machine import BOTH, NEEDS_A_PERSON, ROWS, TOKEN, Machine, fields_of_cron, text_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="what is shown is for systems with a shell")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made(tmp_path, "http://127.0.0.1:9/client/v4")


class FailForGood(Exception):
    """In place of Airflow's exception for what is not tried again."""


class Recorded:
    """A decorator of either kind, with or without options; calling what it decorated only notes that it was called."""

    def __init__(self) -> None:
        self.functions: dict[str, Callable[[], None]] = {}
        self.options: dict[str, dict[str, Any]] = {}
        self.called: list[str] = []

    def __call__(self, function: Callable[[], None] | None = None, **options: Any) -> Any:
        if function is None:
            return lambda decorated: self(decorated, **options)
        name = function.__name__
        self.functions[name], self.options[name] = function, options
        return lambda: self.called.append(name)


def loaded(name: str, machine: Machine, monkeypatch: pytest.MonkeyPatch, modules: dict[str, Any]) -> dict[str, Any]:
    """The names of an example that was run as a module, with these modules to import."""
    for each, contents in modules.items():
        module = ModuleType(each)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, each, module)
    source = text_of(name)
    assert source.count('"/srv/cfbatch"') == 1
    known: dict[str, Any] = {"__name__": "example"}
    exec(compile(source.replace("/srv/cfbatch", str(machine.work)), name, "exec"), known)
    monkeypatch.setenv("PATH", machine.path)
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.setenv("CLOUDFLARE_API_BASE_URL", machine.account["CLOUDFLARE_API_BASE_URL"])
    return known


@pytest.fixture
def airflow(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    dag, task = Recorded(), Recorded()
    connection = SimpleNamespace(get=lambda name: {"cloudflare": SimpleNamespace(login=ACCOUNT, password=TOKEN)}[name])
    modules = {
        "airflow": {},
        "airflow.sdk": {"dag": dag, "task": task, "Connection": connection},
        "airflow.sdk.exceptions": {"AirflowFailException": FailForGood},
    }
    loaded("airflow_dag.py", machine, monkeypatch, modules)
    assert dag.called == ["cfbatch_ranking"], "Airflow finds only what is called"
    assert dag.options["cfbatch_ranking"]["max_active_runs"] == 1
    assert dag.options["cfbatch_ranking"]["schedule"] == fields_of_cron()
    dag.functions["cfbatch_ranking"]()
    assert task.called == ["rank"] and task.options["rank"]["retries"] == 3
    return task


@pytest.fixture
def prefect(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    flow, task = Recorded(), Recorded()
    secret = SimpleNamespace(load=lambda name: SimpleNamespace(get=lambda: {"cloudflare-token": TOKEN}[name]))
    modules = {
        "prefect": {"flow": flow, "task": task},
        "prefect.blocks": {},
        "prefect.blocks.system": {"Secret": secret},
        "prefect.states": {"State": object},
        "prefect.variables": {"Variable": SimpleNamespace(get={"cloudflare_account_id": ACCOUNT}.__getitem__)},
    }
    known = loaded("prefect_flow.py", machine, monkeypatch, modules)
    flow.functions["cfbatch_ranking"]()
    assert task.called == ["rank"] and task.options["rank"]["retries"] == 3
    assert f'cron="{fields_of_cron()}"' in text_of("prefect_flow.py")
    return {**known, "task": task.functions["rank"], "again": task.options["rank"]["retry_condition_fn"]}


def check_both_were_run(machine: Machine, said: str) -> None:
    assert machine.started() == BOTH
    assert said == "how it goes\n" * 2, "and no text of the result"
    assert {f"CLOUDFLARE_ACCOUNT_ID={ACCOUNT}", f"CLOUDFLARE_API_TOKEN={TOKEN}"} <= machine.environ_of_start()


def test_the_task_of_airflow(airflow: Recorded, machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.only_ends(0)
    airflow.functions["rank"]()
    check_both_were_run(machine, capsys.readouterr().out)


def test_the_flow_of_prefect(prefect: dict[str, Any], machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.only_ends(0)
    prefect["task"]()
    check_both_were_run(machine, capsys.readouterr().out)


@pytest.mark.parametrize("status", [int(each) for each in ExitStatus if each])
def test_airflow_tries_again_what_can_change(airflow: Recorded, machine: Machine, status: int) -> None:
    machine.only_ends(status)
    with pytest.raises(FailForGood if status in NEEDS_A_PERSON else RuntimeError, match=f"status {status}$"):
        airflow.functions["rank"]()
    assert machine.started() == BOTH[:1]


@pytest.mark.parametrize("status", [int(each) for each in ExitStatus if each])
def test_prefect_tries_again_what_can_change(prefect: dict[str, Any], machine: Machine, status: int) -> None:
    machine.only_ends(status)
    with pytest.raises(prefect["CommandFailed"], match=f"status {status}$") as failed:
        prefect["task"]()
    state = SimpleNamespace(result=lambda *, raise_on_failure: None if raise_on_failure else failed.value)
    assert prefect["again"](None, None, state) is (status not in NEEDS_A_PERSON)
    assert machine.started() == BOTH[:1]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Machine]:
    with practice_service(tmp_path / "service" / "data", token=TOKEN) as url:
        yield Machine.made(tmp_path, url)


def python_of(program: str) -> Path:
    """The Python that a program in PATH belongs to."""
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed; docs/scheduling.md says with which version it was tried")
    return Path(found).with_name("python")


def run_script(python: Path, script: str, machine: Machine, example: str, **environ: str) -> str:
    """What a script says that can import the example as a module."""
    (machine.home / example).write_text(text_of(example).replace("/srv/cfbatch", str(machine.work)))
    known = {"HOME": str(machine.home), "PATH": f"{python.parent}:{machine.path}", "PYTHONPATH": str(machine.home)}
    done = subprocess.run(
        [str(python), "-c", script],
        cwd=machine.home,
        env={**known, **machine.account, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_airflow_itself_runs_the_task(request: pytest.FixtureRequest) -> None:
    python = python_of("airflow")
    machine: Machine = request.getfixturevalue("served")
    connection = {"conn_type": "generic", "login": ACCOUNT, "password": TOKEN}
    script = (
        "import subprocess, sys; from pathlib import Path\n"
        "for words in ('db migrate', 'dags test cfbatch_ranking'):\n"
        "    subprocess.run([Path(sys.executable).with_name('airflow'), *words.split()], check=True)\n"
    )
    said = run_script(
        *(python, script, machine, "airflow_dag.py"),
        AIRFLOW_HOME=str(machine.home / "airflow"),
        AIRFLOW__CORE__DAGS_FOLDER=str(machine.home),
        AIRFLOW__CORE__LOAD_EXAMPLES="False",
        AIRFLOW_CONN_CLOUDFLARE=json.dumps(connection),
    )
    assert "is done: 82 texts" in said and TOKEN not in said
    assert machine.ranked_rows() == ROWS


def test_prefect_itself_runs_the_flow(request: pytest.FixtureRequest) -> None:
    python = python_of("prefect")
    machine: Machine = request.getfixturevalue("served")
    script = (
        "import os, prefect_flow\n"
        "from prefect.blocks.system import Secret\n"
        "from prefect.variables import Variable\n"
        "Variable.set('cloudflare_account_id', os.environ['CLOUDFLARE_ACCOUNT_ID'])\n"
        "Secret(value=os.environ.pop('TOKEN')).save('cloudflare-token')\n"
        "prefect_flow.cfbatch_ranking()\n"
    )
    said = run_script(
        *(python, script, machine, "prefect_flow.py"),
        PREFECT_HOME=str(machine.home / "prefect"),
        PREFECT_SERVER_ANALYTICS_ENABLED="false",
        TOKEN=TOKEN,
    )
    assert "is done: 82 texts" in said and TOKEN not in said
    assert machine.ranked_rows() == ROWS
