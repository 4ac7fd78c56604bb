"""The groups and near duplicates of a job as its options say, for the window, exports and the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import GroupOptions, Job
from cfbatch_gui.core.results.alike import find_alike, proposed_likeness
from cfbatch_gui.core.results.duplicates import Group
from cfbatch_gui.core.results.embeddings import Embeddings, Progress
from cfbatch_gui.core.results.group_names import telling_words
from cfbatch_gui.core.results.groups import Clusters, GroupEdits, edited, find_clusters, names_of, usual_number
from cfbatch_gui.core.results.matching import differing_numbers
from cfbatch_gui.core.system.threads import check_stopped

_TYPICAL = 3
_MOST = 4  # jobs whose groups are kept in memory
_LONGEST = 60  # characters of a text in the place of a name
_PAGE = 2_000  # pairs of texts that are read together


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
    """The largest first, as the user has changed them; `clusters` has an element of its arrays for each text with a
    direction, whose `members` are indices in `groups`, -1 for texts that are in none. `likeness` is that of every two
    texts of a group, None for a number of groups.
    """

    groups: tuple[JobGroup, ...]
    clusters: Clusters
    likeness: float | None
    options: GroupOptions
    unedited: Clusters

    @property
    def item_numbers(self) -> NDArray[np.int64]:
        return self.clusters.item_numbers

    @property
    def members(self) -> NDArray[np.int64]:
        return self.clusters.members

    @property
    def similarities(self) -> NDArray[np.float32]:
        return self.clusters.similarities

    def items_of(self, group: int) -> NDArray[np.int64]:
        """The items of a group, the most typical first; those in none, at -1, ascend."""
        return self.clusters.items_of(group)

    def likeness_of(self, items: NDArray[np.int64]) -> NDArray[np.float32]:
        """The similarity of each of these items to its group, NaN in none."""
        return self.similarities[self.item_numbers.searchsorted(items)]

    def group_of(self, item: int) -> int:
        """The index of the group of an item, also where a user has removed it from there; -1 for none."""
        return next(iter(self.clusters.known_by[self.item_numbers == item].tolist()), -1)

    @property
    def alone(self) -> int:
        """How many texts are in no group."""
        return int(np.count_nonzero(self.members < 0))


_latest: dict[object, JobGroups] = {}  # by what they were made from, the latest last


def read_groups(folder: JobFolder, job: Job, progress: Progress = lambda share: None) -> JobGroups:
    """The groups of a job by its `options.grouping`; what has not changed since they were last read is kept in memory,
    for a few jobs. Blocking: seconds for many texts, minutes by likeness. Raises DataError.
    """
    stamp = folder.vectors.stat().st_mtime_ns if folder.vectors.exists() else 0
    key = folder.path, stamp, job.stored_batches, job.texts_forgotten_at
    found = _read(Embeddings(folder, job.failed_batches), job.options.grouping, _latest.get(key), progress)
    _latest.pop(key, None)
    _latest[key] = found
    for earlier in list(_latest)[:-_MOST]:
        _latest.pop(earlier, None)
    return found


def _read(embeddings: Embeddings, options: GroupOptions, before: JobGroups | None, progress: Progress) -> JobGroups:
    edits = GroupEdits(options.names, options.joined, options.removed)
    if before is not None and replace(before.options, names=options.names) == options:
        own = names_of(before.clusters, edits)
        groups = (replace(each, name=own.get(index, each.words)) for index, each in enumerate(before.groups))
        return replace(before, groups=tuple(groups), options=options)
    if before is not None and _way(before.options) == _way(options):
        likeness, found = before.likeness, before.unedited
    elif options.by_likeness:
        likeness = proposed_likeness(embeddings) if options.likeness is None else options.likeness
        found = find_alike(embeddings, likeness, _TYPICAL, progress)
    else:
        likeness, number = None, options.number or usual_number(embeddings.count)
        found = find_clusters(embeddings, number, _TYPICAL, progress)
    made = edited(embeddings, found, edits, _TYPICAL)
    words = _words(embeddings, made)
    own = names_of(made, edits)
    groups = (
        JobGroup(own.get(index, words[index]), words[index], each.typical, each.size, each.similarity)
        for index, each in enumerate(made.clusters)
    )
    return JobGroups(tuple(groups), made, likeness, options, found)


def _way(options: GroupOptions) -> tuple[bool, float | None]:
    return options.by_likeness, options.likeness if options.by_likeness else options.number


def _words(embeddings: Embeddings, clusters: Clusters) -> list[str]:
    """The telling words of each group, else the beginning of its most typical text."""
    found = telling_words(embeddings.each_text(clusters.item_numbers), clusters.members, len(clusters.clusters))
    typical = embeddings.texts([each.typical[0] for each in clusters.clusters])
    return [
        ", ".join(words) or " ".join(text.text[:_LONGEST].split()) for words, text in zip(found, typical, strict=True)
    ]


def differing_groups(embeddings: Embeddings, groups: Sequence[Group]) -> frozenset[int]:
    """Of these groups of near duplicates, those in which a text that goes has other numbers, such as sizes, than the
    one that stays, by this one's item. Blocking: seconds for many. Raises DataError.
    """
    pairs, found = [(each.stays, item) for each in groups for item in each.goes], set[int]()
    for start in range(0, len(pairs), _PAGE):
        check_stopped()
        page = pairs[start : start + _PAGE]
        texts = {each.item_no: each.text for each in embeddings.texts(sorted({item for pair in page for item in pair}))}
        found.update(stays for stays, goes in page if any(differing_numbers(texts[stays], texts[goes])))
    return frozenset(found)
