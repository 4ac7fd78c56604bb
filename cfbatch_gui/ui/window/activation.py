"""The desktop's leave to bring the window to the front, which it gives to the program that the user has started."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtGui import QGuiApplication

_VARIABLE = "XDG_ACTIVATION_TOKEN"


@contextmanager
def activation(token: str) -> Iterator[None]:
    """Within the block, activating a window uses this token, which a later start was given; "" is none.

    Only on Wayland: Qt takes the token from the environment when a window asks to be activated, and has no other way.
    Qt for X11 reads its own variable once, at the start.
    """
    if not token or "\0" in token or not QGuiApplication.platformName().startswith("wayland"):
        yield
        return
    os.environ[_VARIABLE] = token
    try:
        yield
    finally:
        os.environ.pop(_VARIABLE, None)  # it is used up; nor are other programs to be started with it
