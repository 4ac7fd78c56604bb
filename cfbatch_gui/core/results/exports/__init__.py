"""Results as files: `export` writes one, `TARGETS` is what there is. One file of this folder for each form."""

from cfbatch_gui.core.results.exports.base import ExportOptions, Measure, Preset, Target
from cfbatch_gui.core.results.exports.targets import TARGETS, columns_of, target_for, targets_for
from cfbatch_gui.core.results.exports.writing import Exported, export

__all__ = [
    "TARGETS",
    "ExportOptions",
    "Exported",
    "Measure",
    "Preset",
    "Target",
    "columns_of",
    "export",
    "target_for",
    "targets_for",
]
