"""Indexes, what is sent of a job, and how long ago an index was looked at, in words; the name of a new index."""

import re
import unicodedata
from collections.abc import Collection
from math import ceil

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.vectorize.client import PART_BYTES
from cfbatch_gui.core.vectorize.push_values import IdSource, PushOptions
from cfbatch_gui.core.vectorize.wire import Metric, VectorizeIndex
from cfbatch_gui.core.workers_ai.limits import INDEX_NAME_FORM, MAX_INDEX_NAME_BYTES, MAX_UPLOAD_VECTORS
from cfbatch_gui.ui import display

LONGEST_NAME = 40  # letters of a name of the user's that are shown in a sentence
_A_MOMENT = 3.0  # seconds
_BYTES_A_NUMBER = 12.5  # of a vector's numbers as they are sent; measured with vectors of length 1
_NO_NAME = re.compile(r"[^a-z0-9]+")


def metric_words(metric: str) -> str:
    """How an index compares vectors."""
    words = {
        Metric.COSINE: _tr("cosine"),
        Metric.EUCLIDEAN: _tr("Euclidean distance"),
        Metric.DOT_PRODUCT: _tr("dot product"),
    }
    return words[Metric(metric)] if metric in list(Metric) else metric


def dimension_words(dimension: int, metric: str = "") -> str:
    """The form of vectors: "1,024 dimensions, cosine"; "" where nothing is known."""
    parts = [display.plural(dimension, "{n} dimension", "{n} dimensions")] if dimension else []
    return ", ".join(filter(None, (*parts, metric_words(metric))))


def index_words(index: VectorizeIndex, dimension: int, count: int | None) -> str:
    """An index in a list: its name, form and number of vectors, or why vectors of this dimension do not fit it."""
    if not fits(index, dimension):
        pattern = _tr("{name}: takes {wanted}, and these vectors have {dimension}")
        wanted = display.plural(index.dimensions, "{n} dimension", "{n} dimensions")
        return pattern.format(name=index.name, wanted=wanted, dimension=display.number(dimension))
    counted = display.plural(count, "{n} vector", "{n} vectors") if count is not None else ""
    return " · ".join(filter(None, (index.name, dimension_words(index.dimensions, index.metric), counted)))


def fits(index: VectorizeIndex, dimension: int) -> bool:
    """Whether vectors of this length can be put into an index."""
    return index.dimensions in (0, dimension)


def id_words(options: PushOptions) -> str:
    """Where ids come from."""
    match options.ids:
        case IdSource.COLUMN:
            return options.id_column
        case IdSource.ROWS:
            return _tr("row numbers")
        case IdSource.OWN:
            return _tr("the job's IDs")


def parts_words(vectors: int, dimension: int) -> str:
    """In how many uploads vectors are sent, estimated before they are written: "in one part", "in about 6 parts"."""
    parts = max(ceil(vectors * dimension * _BYTES_A_NUMBER / PART_BYTES), ceil(vectors / MAX_UPLOAD_VECTORS))
    return _tr("in one part") if parts < 2 else _tr("in about {n} parts").format(n=display.number(parts))


def ago_words(then: float, now: float) -> str:
    """How long ago something was, by the second at first: "just now", "12 s ago", "4 min ago"."""
    if _A_MOMENT <= now - then < 60:
        return _tr("{n} s ago").format(n=int(now - then))
    return display.age(then, now)


def proposed_name(job_name: str, taken: Collection[str]) -> str:
    """A name for a new index, from a job's: small Latin letters, digits and "-", and none that there is already.

    One that no index can have, since it begins with a digit or is a single letter, gets a word before it.
    """
    letters = unicodedata.normalize("NFKD", job_name).encode("ascii", "ignore").decode().lower()
    words = _NO_NAME.sub("-", letters).strip("-")
    if not re.fullmatch(INDEX_NAME_FORM, words):
        words = f"vectors-{words}".rstrip("-")
    name = words[: MAX_INDEX_NAME_BYTES - 4].rstrip("-")
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found


def short_name(name: str) -> str:
    """A name of the user's within a sentence."""
    return display.one_line(name, LONGEST_NAME)


def _tr(text: str) -> str:
    return QCoreApplication.translate("vectorize", text)
