"""The t-SNE map, cached in the job's folder, as computing it takes seconds.

The file has a key derived from the vectors. The map is computed again if the key differs, because vectors were added,
removed or changed, and if the file cannot be read. The file can be deleted at any time.
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

_VERSION = 1  # of the t-SNE code, raised whenever it gives other maps for the same vectors
_SAMPLE = 512


def cached_map(folder: JobFolder, embeddings: Embeddings) -> TextMap | None:
    """The cached t-SNE map if it was made from the present vectors, else None.

    Blocking; call it in a thread. Raises DataError.
    """
    return _read(folder, unit_vectors(embeddings))


def tsne_map(folder: JobFolder, embeddings: Embeddings, progress: Progress = lambda share: None) -> TextMap:
    """The cached t-SNE map, or a new one, which is then cached if the file can be written.

    Blocking, half a minute for 100,000 texts; call it in a thread. Raises DataError, and any exception from `progress`.
    """
    unit = unit_vectors(embeddings)
    found = _read(folder, unit)
    if found is None:
        found = make_tsne_map(unit, progress)
        content = io.BytesIO()
        np.savez(content, key=np.array(_key(unit)), points=found.points)
        with suppress(UserError):  # the disk is full, or the folder is read-only or deleted
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
    """A SHA-256 over the item numbers, the inverse lengths of all vectors, and a sample of whole unit vectors."""
    digest = hashlib.sha256(f"{_VERSION} {unit.dimension} {unit.count}".encode())
    digest.update(unit.item_numbers.tobytes())
    digest.update(unit.inverse_lengths.tobytes())
    if unit.count:
        digest.update(unit.rows(unit.sample(_SAMPLE)).tobytes())
    return digest.hexdigest()
