"""A sentence shown on the desktop by a program of the desktop's own, for when this one cannot open a window."""

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence

from cfbatch_gui.core.system.secret_variables import without_secrets

_TITLE = "CF Batch"
Start = Callable[[Sequence[str], Mapping[str, str]], object]


def show_on_desktop(
    sentence: str,
    environ: Mapping[str, str],
    *,
    find: Callable[[str], str | None] = shutil.which,
    start: Start | None = None,
) -> bool:
    """Show the sentence by the first such program there is; whether there was one. Does not wait until it is read."""
    for program, *arguments in _commands(sentence):
        found = find(program)
        if found is None:
            continue
        try:
            (start or _start)([found, *arguments], _environment(environ))
        except OSError:
            continue
        return True
    return False


def _commands(sentence: str) -> tuple[Sequence[str], ...]:
    """The programs with their arguments. A sentence of ours begins with no hyphen, so none takes it for an option."""
    return (
        ("zenity", "--error", f"--title={_TITLE}", "--no-markup", "--width=420", f"--text={sentence}"),
        ("kdialog", "--title", _TITLE, "--error", sentence),
        ("xmessage", "-center", "-title", _TITLE, sentence),
        ("notify-send", "--urgency=critical", f"--app-name={_TITLE}", _TITLE, sentence),
    )


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Without secrets, and without the folder of libraries that a packed program puts before the system's."""
    found = without_secrets(environ)
    original = found.pop("LD_LIBRARY_PATH_ORIG", None)  # kept there by PyInstaller
    if original is not None:
        found["LD_LIBRARY_PATH"] = original
    return found


def _start(command: Sequence[str], environ: Mapping[str, str]) -> object:
    return subprocess.Popen(  # noqa: S603 # a list of arguments, without a shell
        command,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
