"""The desktop's leave to bring the window to the front, which it gives to the program that the user has used."""

import os

from PySide6.QtGui import QGuiApplication


def keep_token(token: str) -> None:
    """Use this token when the window is next brought to the front; "" is none.

    Only on Wayland: Qt takes the token from the environment when a window asks to be activated, removes it there, and
    has no other way. Qt for X11 reads a variable of its own once, at the start.
    """
    if token and "\0" not in token and QGuiApplication.platformName().startswith("wayland"):
        os.environ["XDG_ACTIVATION_TOKEN"] = token
