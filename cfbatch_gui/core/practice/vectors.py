"""What both practice models share: texts in groups of bounded size, and rows scaled to length one."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

_TEXTS = 512


def groups(texts: Iterable[str], characters: int) -> Iterator[list[str]]:
    """Runs of at most 512 texts and about `characters` characters, so that working memory stays small."""
    group: list[str] = []
    held = 0
    for text in texts:
        if group and (len(group) == _TEXTS or held + len(text) > characters):
            yield group
            group, held = [], 0
        group.append(text)
        held += len(text)
    if group:
        yield group


def unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scale each row to length one, in place; a row of zeros becomes the first unit vector."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    empty = lengths[:, 0] == 0
    vectors[empty, 0] = 1
    lengths[empty] = 1
    vectors /= lengths
    return vectors
