"""What became of the texts of a file since an earlier version of it."""

from typing import Final

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.versions import Change, Differences
from cfbatch_gui.words.figures import number, one_line, worded
from cfbatch_gui.words.languages import said

CHANGES: Final = {
    Change.ADDED: message("new"),
    Change.CHANGED: message("changed"),
    Change.MOVED: message("other_id"),
    Change.UNCHANGED: message("before"),
    Change.REMOVED: message("gone"),
}


def version_words(earlier: str, found: Differences) -> str:
    """ "Since “May”: 120 new · 68 changed · 9,892 as before · 40 gone."; `earlier` is the name of its job."""
    counts = ((len(found.items(change)), name) for change, name in CHANGES.items())
    words = " · ".join(f"{number(count)} {said(name)}" for count, name in counts if count)
    return worded("Since “{name}”: {counts}.", name=one_line(earlier), counts=words)
