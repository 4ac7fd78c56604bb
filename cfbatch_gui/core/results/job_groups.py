"""The groups of a job as its options say: what the window, exports and the terminal show of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.embeddings import Embeddings, Progress
from cfbatch_gui.core.results.groups import find_clusters, usual_number

_TYPICAL = 3
_LONGEST = 60  # characters of a text in the place of a name


@dataclass(frozen=True, slots=True)
class JobGroup:
    """`name` is the user's own, else `words`, those that tell it from all others; `typical` has item numbers, the most
    typical one first.
    """

    name: str
    words: str
    typical: tuple[int, ...]
    size: int
    similarity: float  # the mean cosine to its centre

    @property
    def is_named(self) -> bool:
        return self.name != self.words


@dataclass(frozen=True, eq=False)
class JobGroups:
    """The largest first; arrays have an element for each text with a direction.

    `item_numbers` ascend; `members` are indices in `groups`, -1 for texts that are in none; `similarities` are cosines
    to the centre, NaN for these. `likeness` is that of the texts of each group, None for a number of groups.
    """

    item_numbers: NDArray[np.int64]
    members: NDArray[np.int64]
    similarities: NDArray[np.float32]
    groups: tuple[JobGroup, ...]
    likeness: float | None
    missing: int
    without_direction: int

    def items_of(self, group: int) -> NDArray[np.int64]:
        """The items of a group, the most typical first; those in none, at -1, ascend."""
        found = np.flatnonzero(self.members == group)
        order = np.argsort(-self.similarities[found], kind="stable") if group >= 0 else slice(None)
        return self.item_numbers[found[order]]

    def likeness_of(self, items: NDArray[np.int64]) -> NDArray[np.float32]:
        """The similarity of each of these items to its group."""
        return self.similarities[self.item_numbers.searchsorted(items)]


def read_groups(folder: JobFolder, job: Job, progress: Progress = lambda share: None) -> JobGroups:
    """The groups of a job by its `options.grouping`. Blocking: seconds for many texts. Raises DataError."""
    embeddings, options = Embeddings(folder, job.failed_batches), job.options.grouping
    found = find_clusters(embeddings, options.number or usual_number(embeddings.count), _TYPICAL, progress)
    typical = embeddings.texts([each.typical[0] for each in found.clusters])
    names = [" ".join(each.text.split())[:_LONGEST] for each in typical]
    groups = tuple(
        JobGroup(name, name, each.typical, each.size, each.similarity)
        for each, name in zip(found.clusters, names, strict=True)
    )
    return JobGroups(
        found.item_numbers,
        found.members,
        found.similarities,
        groups,
        None,
        found.missing,
        found.without_direction,
    )
