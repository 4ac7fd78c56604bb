"""The map by neighbours, kept in the job's folder: what took seconds is there at once the next time.

It is named by what it was made from. Another vector, one more or one less, and it is made anew; so it is when the file
cannot be read. Nothing is lost with it.
"""

import hashlib
import io
import zipfile
from contextlib import suppress

import numpy as np

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.maps.text_map import Layout, TextMap, make_tsne_map, map_of
from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.core.results.vectors.unit_vectors import Progress, UnitVectors, unit_vectors
from cfbatch_gui.core.system.files import write_own_file

_VERSION = 1  # of the layout: another one makes other maps of the same vectors
_SAMPLE = 512


def cached_map(folder: JobFolder, embeddings: Embeddings) -> TextMap | None:
    """The map by neighbours as it was made from the very vectors that are there now. For a thread. Raises DataError."""
    return _read(folder, unit_vectors(embeddings))


def tsne_map(folder: JobFolder, embeddings: Embeddings, progress: Progress = lambda share: None) -> TextMap:
    """The kept map, or a new one that is then kept. For a thread. Raises DataError."""
    unit = unit_vectors(embeddings)
    found = _read(folder, unit)
    if found is None:
        found = make_tsne_map(unit, progress)
        content = io.BytesIO()
        np.savez(content, key=np.array(_key(unit)), points=found.points)
        with suppress(UserError):  # a full disk, a folder that may not be written, or one that is gone
            write_own_file(folder.map, content.getvalue())
    return found


def _read(folder: JobFolder, unit: UnitVectors) -> TextMap | None:
    try:
        with np.load(io.BytesIO(folder.map.read_bytes()), allow_pickle=False) as kept:
            key, points = str(kept["key"]), kept["points"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    fits = key == _key(unit) and points.shape == (unit.count, 2) and points.dtype == np.float32
    return map_of(unit, points, 0.0, Layout.NEIGHBOURS) if fits and np.isfinite(points).all() else None


def _key(unit: UnitVectors) -> str:
    """Of which texts, how long each vector is, and some of them whole."""
    digest = hashlib.sha256(f"{_VERSION} {unit.dimension} {unit.count}".encode())
    digest.update(unit.item_numbers.tobytes())
    digest.update(unit.inverse_lengths.tobytes())
    if unit.count:
        digest.update(unit.rows(unit.sample(_SAMPLE)).tobytes())
    return digest.hexdigest()
