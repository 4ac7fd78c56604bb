"""What is said of jobs that the account collects can be said in another language, and programs read English."""

from pathlib import Path

import pytest

from cfbatch_gui.cli.command_line import run_command
from cfbatch_gui.core.system.languages import ENGLISH, use_language
from tests.cli.account_world import DOOR, World, account, world
from tests.cli.all_commands import write_inputs
from tests.cli.test_every_word import LEFT_AS_IT_IS, Walk, outside, pseudo
from tests.journeys.terminal import Ended, Terminal

__all__ = ["account", "world"]  # fixtures


class Told:
    """What commands of several terminals printed in the pseudo-language."""

    def __init__(self) -> None:
        self.printed: list[tuple[tuple[object, ...], Ended]] = []

    def run(self, terminal: Terminal, status: int, *arguments: object) -> Ended:
        terminal.entry, terminal.environ["COLUMNS"] = run_command, "10000"
        ended = terminal.run(*arguments)
        assert ended.status == status, ended.err
        if "--json" not in arguments:
            self.printed.append((arguments, ended))
        return ended


@pytest.fixture
def told(world: World, tmp_path: Path) -> tuple[Told, list[str], dict[str, object]]:
    """The walk, the ids of its jobs, and what a program was told of the first."""
    write_inputs(tmp_path / "in")
    told, texts, through = Told(), tmp_path / "in" / "числа.csv", ("--connection", DOOR)
    send = ("run", texts, "--embed", *through, "--no-reuse", "--name")
    with world.plain_door() as address:
        first, second = world.terminal("one", "--keep-days", "1"), world.terminal("two")
        third = world.terminal("three", "--collects", address=address)
        use_language(pseudo())
        try:
            with world.clock.held():
                told.run(first, 9, *send, "первое", "--collect-in-account", "--leave", "--out", tmp_path / "1.npy")
                told.run(first, 9, "resume", "--leave")
                told.run(first, 9, "resume", "первое", "--leave")
                as_json = told.run(first, 9, "resume", "первое", "--leave", "--json").json
                told.run(first, 0, "jobs")
                told.run(first, 0, "show", "первое")
                told.run(first, 2, "account", "clear", "первое")
                told.run(first, 2, "resume", "первое", "--no-collect-in-account", "--leave")
                told.run(second, 0, "account", "list", *through)
                told.run(second, 2, "account", "take-over", "нет", *through)
                told.run(second, 2, "account", "take-over", "первое", tmp_path / "in" / "тексты.csv", *through)
                told.run(third, 10, *send, "третье", "--leave")
                told.run(third, 2, "account", "list", *through)
                told.run(third, 0, "show", "третье")
                told.run(third, 0, "jobs")
            told.run(second, 0, "account", "take-over", "первое", texts, *through)
            told.run(first, 0, "resume")
            told.run(first, 0, *send, "второе", "--collect-in-account")
            told.run(first, 0, "show", "первое")
            told.run(second, 2, "account", "clear", "первое")
            told.run(first, 0, "account", "clear", "первое")
            told.run(first, 0, "account", "clear", "первое")
            told.run(first, 2, "account", "remove", "второе", *through)
            told.run(first, 0, "account", "remove", "второе", *through, "--yes")
        finally:
            use_language(ENGLISH)
    jobs = [job["job"] for terminal in (first, second, third) for job in terminal.jobs()]
    return told, [*jobs, *(job["request_id"] for job in as_json["batches"])], as_json


def test_whatever_people_read_is_in_their_language(
    told: tuple[Told, list[str], dict[str, object]], tmp_path: Path
) -> None:
    walked, ids, as_json = told
    walk = Walk(tmp_path, ids, list(walked.printed), [], [])
    assert [(arguments, line) for arguments, stream in walk.streams() for line in outside(stream)] == []
    left = {walk.without_exceptions(text) for text in walk.left()}
    assert not [text for text in left if any(sign.isalpha() for sign in text) and text not in LEFT_AS_IT_IS]
    said = "".join(ended.err for _, ended in walked.printed)
    assert "⟦" in said
    assert as_json["state"] == "working"
    assert as_json["account"] is not None
