"""Results as files: `export` writes one, `TARGETS` lists all formats. Each format is a module of this package."""

from cfbatch_gui.core.results.exports.base import ExportOptions, Measure, Target
from cfbatch_gui.core.results.exports.rows import columns_of
from cfbatch_gui.core.results.exports.targets import TARGETS, target_for, targets_for
from cfbatch_gui.core.results.exports.writing import Exported, export
