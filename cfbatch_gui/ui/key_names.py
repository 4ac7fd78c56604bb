"""Keys by the names that the user's system has for them: Ctrl+C, and on macOS ⌘C."""

import re
import sys
from typing import Final

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QKeySequence

_IN_HELP: Final = re.compile(r"\*\*(?:Ctrl|Strg)(?:\+(\w))?\*\*")  # in the languages of the help


def _tr(text: str) -> str:
    return QCoreApplication.translate("keys", text)


def key_name(keys: str) -> str:
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def control_name(platform: str = sys.platform) -> str:
    return "⌘" if platform == "darwin" else _tr("Ctrl")


def in_help(text: str, platform: str = sys.platform) -> str:
    if platform != "darwin":
        return text
    return _IN_HELP.sub(lambda found: f"**⌘{found[1] or ''}**", text)
