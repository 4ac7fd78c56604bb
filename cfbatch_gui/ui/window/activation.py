"""The desktop's leave to bring the window to the front, which it gives to the program that the user has used."""

import os

from PySide6.QtGui import QGuiApplication


def keep_token(token: str) -> None:
    """Use this token when the window is next activated; Qt on Wayland takes it from the environment alone."""
    if token and "\0" not in token and QGuiApplication.platformName().startswith("wayland"):
        os.environ["XDG_ACTIVATION_TOKEN"] = token
