"""What people type next, with names as their shell takes them."""

import shlex
import subprocess
import sys


def command(*words: str) -> str:
    """One line for a shell: the words, quoted where they need it."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def slug(name: str, fallback: str, most: int = 63) -> str:
    """A name of a-z, 0-9 and single hyphens, which starts with a letter; `fallback` where nothing is left of it."""
    letters = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name.lower())
    joined = "-".join(part for part in letters.split("-") if part).lstrip("-0123456789")
    return joined[:most].strip("-") or fallback
