"""The kinds of files that a dialog for opening offers: all that the core reads, known by content and not by name."""

from cfbatch_gui.core.inputs.files.open_file import PACKED_SUFFIXES
from cfbatch_gui.core.inputs.readers.formats import suffixes_by_group

_KINDS = {
    name: " ".join(f"*{suffix}" for suffix in suffixes)
    for name, suffixes in {**suffixes_by_group(), "Packed files": PACKED_SUFFIXES}.items()
}

FILTERS = (
    f"All supported files ({' '.join(_KINDS.values())})",
    *(f"{name} ({patterns})" for name, patterns in _KINDS.items()),
    "All files (*)",
)
"""For a file dialog, the first one preselected."""
