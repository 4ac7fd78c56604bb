"""What is said when there can be no window: on standard error, and on the desktop where an icon was clicked."""

import sys
from collections.abc import Mapping, Sequence

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.desktop_message import show_on_desktop
from cfbatch_gui.core.system.distributions import this_distribution
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.window_libraries import missing_libraries, missing_sentence
from cfbatch_gui.window_arguments import speak

STATUS = 2  # as for wrong usage: the user can do something about it


def say_no_screen(given: Sequence[str], environ: Mapping[str, str]) -> int:
    """There is no display; the exit status."""
    speak(given, environ)
    _say(said(message("There is no screen here. The terminal program “cfbatch” does the same work.")))
    return STATUS


def say_missing_libraries(soname: str, given: Sequence[str], environ: Mapping[str, str]) -> int:
    """A library that Qt needs is missing, and perhaps others; the exit status."""
    speak(given, environ)
    sentence = said(missing_sentence(missing_libraries(soname), this_distribution()))
    _say(sentence)
    if sys.stderr is None or not sys.stderr.isatty():
        show_on_desktop(sentence, environ)
    return STATUS


def _say(sentence: str) -> None:
    if sys.stderr is not None:  # as on Windows
        print(sentence, file=sys.stderr, flush=True)  # noqa: T201
