"""`cfbatch related`: the closest rows of the same list for each row, which is a match of the list with itself."""

from cfbatch_gui.cli import match

add_arguments, run = match.add_related_arguments, match.run
