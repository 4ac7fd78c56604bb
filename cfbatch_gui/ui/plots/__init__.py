"""Plots: light and dark from the theme's roles, sharp at every pixel ratio, interactive with a million dots.

`Plot` is the base of all: it is copied with Ctrl+C, and `PictureButtons` save it as PNG or SVG, or the data
behind it as CSV. There are three plots.

`Chart` has axes, and layers over them, later ones above earlier ones:

    chart = Chart(self.tr("Distribution of the scores"))        # its accessible name
    chart.show_layers(
        (
            Bars(edges, counts, self.tr("These scores")),       # numpy.histogram's own two arrays
            Steps(edges, baseline, self.tr("Other questions")), # an outline over the bars
            Mark(0.35, self.tr("Threshold")),                   # a line across, with its name
        ),
        across=self.tr("Score"),
        up=self.tr("Contexts"),
    )

    dots = Dots(x, y, describe=lambda index: texts[index])
    chart.show_layers((Line(0, 1), dots), across="bge-m3", up="embeddinggemma")
    chart.picked.connect(self._open_text)                       # a click on a dot brings its index in `x` and `y`

`DifferenceChart` has a bar for each query, from the largest gain to the largest loss, over an interval.

`DotMap` is a plane without axes: wheel, drag, hover, lasso, colours by category or number.

    buttons = PictureButtons(chart, self._notices, self.tasks, name="scores", parent=self)   # "Copy", "Save picture…"

Colours of the layers are roles of the theme; where there are many things to tell apart, `colours.categories()`. Plots
get arrays from the pages and read no job. pyqtgraph is not used: `dot_image` paints 100,000 dots in some 30 ms, without
an optional library, and the same code draws the picture that is saved.
"""

from cfbatch_gui.ui.plots.chart import Chart, DifferenceChart
from cfbatch_gui.ui.plots.dot_map import DotMap
from cfbatch_gui.ui.plots.layers import Bars, Dots, Line, Mark, Steps
from cfbatch_gui.ui.plots.plot import PictureButtons, Plot, PlotData

__all__ = [
    "Bars",
    "Chart",
    "DifferenceChart",
    "DotMap",
    "Dots",
    "Line",
    "Mark",
    "PictureButtons",
    "Plot",
    "PlotData",
    "Steps",
]
