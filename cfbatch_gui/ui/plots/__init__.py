"""Plots over arrays: charts with axes and layers, and a map of up to a million dots."""

from cfbatch_gui.ui.plots.dot_map import DotMap
from cfbatch_gui.ui.plots.plot import Band, Bars, Chart, Diagonal, Dots, Mark, PictureButtons, Plot, PlotData, Steps
from cfbatch_gui.ui.plots.share_bars import ShareBars
