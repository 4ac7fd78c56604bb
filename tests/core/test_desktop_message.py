"""Who clicked an icon sees why no window opens, by whatever the desktop shows messages with."""

from collections.abc import Mapping, Sequence

import pytest

from cfbatch_gui.core.system.desktop_message import show_on_desktop
from tests.canary import TOKEN

SENTENCE = "This system lacks libEGL.so.1; type: x && <b>y</b>"


@pytest.mark.parametrize("program", ["zenity", "kdialog", "xmessage", "notify-send"])
def test_the_first_program_there_is_gets_the_sentence_as_it_is(program: str) -> None:
    started: list[tuple[Sequence[str], Mapping[str, str]]] = []
    environ = {
        "CLOUDFLARE_API_TOKEN": TOKEN,
        "DISPLAY": ":0",
        "LD_LIBRARY_PATH": "/packed",
        "LD_LIBRARY_PATH_ORIG": "/own",
    }

    def find(name: str) -> str | None:
        return f"/usr/bin/{name}" if name == program else None

    shown = show_on_desktop(SENTENCE, environ, find=find, start=lambda *call: started.append(call))
    assert shown
    ((command, given),) = started
    assert command[0] == f"/usr/bin/{program}"
    assert command[-1].removeprefix("--text=") == SENTENCE
    assert given == {"DISPLAY": ":0", "LD_LIBRARY_PATH": "/own"}


def test_a_system_without_any_shows_nothing() -> None:
    assert not show_on_desktop(SENTENCE, {}, find=lambda name: None)
