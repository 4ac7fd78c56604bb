"""`cfbatch` in the language of its user. Figures tell it, whatever has been translated."""

from pathlib import Path

import pytest

from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings
from tests.journeys.terminal import Terminal


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.csv"
    path.write_text("id,text\n" + "".join(f"{number},text {number}\n" for number in range(1_200)))
    return path


def test_the_environment_names_the_language_and_settings_another(terminal: Terminal, texts: Path) -> None:
    paths = Paths(terminal.data)
    paths.create()
    arguments = ("check", texts, "--embed")
    english, for_programs = terminal.run_apart(*arguments), terminal.run_apart(*arguments, "--json")
    assert " 1,200\n" in english.out
    terminal.environ |= {"LC_ALL": "de_DE.UTF-8"}
    german = terminal.run_apart(*arguments)
    assert (german.status, german.err) == (english.status, english.err)
    assert " 1.200\n" in german.out
    assert terminal.run_apart(*arguments, "--json").out == for_programs.out
    Settings(language="en").save(paths.settings)
    assert terminal.run_apart(*arguments).out == english.out
    Settings(language="de").save(paths.settings)
    terminal.environ |= {"LC_ALL": "C"}
    assert terminal.run_apart(*arguments).out == german.out
