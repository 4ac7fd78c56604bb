"""The files for Airflow and Prefect of docs/scheduling.md: which commands they start, and what they try again.

Modules that record stand in for Airflow and Prefect.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
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


def load(name: str, machine: Machine, monkeypatch: pytest.MonkeyPatch, modules: dict[str, Any]) -> None:
    """Run an example as a module, with these modules to import."""
    for each, contents in modules.items():
        module = ModuleType(each)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, each, module)
    source = text_of(name)
    assert source.count('"/srv/cfbatch"') == 1
    exec(compile(source.replace("/srv/cfbatch", str(machine.work)), name, "exec"), {"__name__": "example"})
    monkeypatch.setenv("PATH", machine.path)
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.setenv("CLOUDFLARE_API_BASE_URL", machine.account["CLOUDFLARE_API_BASE_URL"])


@dataclass
class Task:
    """The task of an example, and whether a failure of it is tried again."""

    run: Callable[[], None]
    is_tried_again: Callable[[Exception], bool]


@pytest.fixture(params=["airflow_dag.py", "prefect_flow.py"])
def task(request: pytest.FixtureRequest, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Task:
    flow, task = Recorded(), Recorded()
    connection = SimpleNamespace(get=lambda name: {"cloudflare": SimpleNamespace(login=ACCOUNT, password=TOKEN)}[name])
    secret = SimpleNamespace(load=lambda name: SimpleNamespace(get=lambda: {"cloudflare-token": TOKEN}[name]))
    modules = {
        "airflow": {},
        "airflow.sdk": {"dag": flow, "task": task, "Connection": connection},
        "airflow.sdk.exceptions": {"AirflowFailException": FailForGood},
        "prefect": {"flow": flow, "task": task},
        "prefect.blocks": {},
        "prefect.blocks.system": {"Secret": secret},
        "prefect.states": {"State": object},
        "prefect.variables": {"Variable": SimpleNamespace(get={"cloudflare_account_id": ACCOUNT}.__getitem__)},
    }
    load(request.param, machine, monkeypatch, modules)
    flow.functions["cfbatch_ranking"]()
    assert task.called == ["rank"] and task.options["rank"]["retries"] == 3
    if request.param == "airflow_dag.py":
        assert flow.called == ["cfbatch_ranking"], "Airflow finds only what is called"
        assert flow.options["cfbatch_ranking"]["max_active_runs"] == 1
        assert flow.options["cfbatch_ranking"]["schedule"] == fields_of_cron()
    else:
        assert f'cron="{fields_of_cron()}"' in text_of("prefect_flow.py")

    def is_tried_again(error: Exception) -> bool:
        state = SimpleNamespace(result=lambda *, raise_on_failure: None if raise_on_failure else error)
        again = task.options["rank"].get("retry_condition_fn", lambda *_: not isinstance(error, FailForGood))
        return bool(again(None, None, state))

    return Task(task.functions["rank"], is_tried_again)


def test_both_commands_are_run(task: Task, machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.only_ends(0)
    task.run()
    assert machine.started() == BOTH
    assert capsys.readouterr().out == "how it goes\n" * 2, "and no text of the result"
    assert {f"CLOUDFLARE_ACCOUNT_ID={ACCOUNT}", f"CLOUDFLARE_API_TOKEN={TOKEN}"} <= machine.environ_of_start()


@pytest.mark.parametrize("status", [int(each) for each in ExitStatus if each])
def test_what_can_change_is_tried_again(task: Task, machine: Machine, status: int) -> None:
    machine.only_ends(status)
    with pytest.raises(Exception, match=f"status {status}$") as failed:
        task.run()
    assert task.is_tried_again(failed.value) is (status not in NEEDS_A_PERSON)
    assert machine.started() == BOTH[:1]
