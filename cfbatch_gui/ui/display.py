"""Tooltips, keys and cells as Qt and the platform want them."""

import html
import re
import sys
from typing import Final

from PySide6.QtCore import QLocale
from PySide6.QtGui import QKeySequence
from PySide6.QtGui import Qt as GuiQt

from cfbatch_gui.words.languages import tr

_LONGEST_TIP = 4000
_LONG_WORD = re.compile("[!-\u024f]{40,}")  # Latin letters only: Qt breaks other scripts itself
_PARTS = re.compile(".{1,20}")
_MAY_BREAK = "\u200b"


def copied_number(value: float) -> str:
    """As a spreadsheet of this locale reads it: 0.7123456 → "0,7123456" in German."""
    return repr(value).replace(".", QLocale().decimalPoint())


def plain_tip(text: str) -> str:
    """A tooltip that shows data literally: Qt would read tags as rich text, and load files that they name."""
    cut = text if len(text) <= _LONGEST_TIP else text[:_LONGEST_TIP] + "…"
    return f"<p style='white-space: pre-wrap'>{html.escape(cut)}</p>" if GuiQt.mightBeRichText(cut) else cut


def breakable(text: str) -> str:
    """Insert invisible break points into long words, so that a label can wrap them."""
    return _LONG_WORD.sub(lambda found: _MAY_BREAK.join(_PARTS.findall(found[0])), text)


def csv_separator() -> str:
    """ ";" where the decimal point of this system is a comma."""
    return ";" if QLocale.system().decimalPoint() == "," else ","


_IN_HELP: Final = re.compile(r"\*\*(?:Ctrl|Strg)(?:\+(\w))?\*\*")  # in the languages of the help


def key_name(keys: str) -> str:
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def control_name(platform: str = sys.platform) -> str:
    return "⌘" if platform == "darwin" else tr("Ctrl")


def in_help(text: str, platform: str = sys.platform) -> str:
    if platform != "darwin":
        return text
    return _IN_HELP.sub(lambda found: f"**⌘{found[1] or ''}**", text)
