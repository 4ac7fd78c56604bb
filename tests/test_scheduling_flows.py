"""The files for Airflow and Prefect of docs/scheduling.md: which commands they start, and what they try again.

Modules that record stand in for Airflow and Prefect.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from cfbatch_gui.cli.console import ExitStatus
from tests.journeys.terminal import ACCOUNT
from tests.scheduled_machine import BOTH, NEEDS_A_PERSON, TOKEN, Machine, fields_of_cron, text_of

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
