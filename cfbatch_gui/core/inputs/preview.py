"""The first rows of a file, for the eye and for guessing the columns' roles."""

from contextlib import closing
from itertools import islice

from cfbatch_gui.core.inputs.input_values import Row, Source
from cfbatch_gui.core.inputs.readers import read_rows


def preview(source: Source, limit: int = 200) -> tuple[Row, ...]:
    """Return the first rows by the reader that a job uses, so that what is seen is what is sent. Raises InputError."""
    with closing(read_rows(source)) as rows:
        return tuple(islice(rows, limit))
