"""The groups of jobs in the sidebar, each with its jobs in their order; a changed job moves alone."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cfbatch_gui.core.jobs.states import NEEDS_USER, Job, JobState


class Group(StrEnum):
    """The groups of jobs, in the order of the list."""

    NEEDS_YOU = "needs_you"
    WORKING = "working"
    DRAFTS = "drafts"
    FINISHED = "finished"
    ARCHIVED = "archived"  # shown by itself, or while searching


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A line with the name of a group and the number of its jobs."""

    group: Group
    count: int


Entry = GroupEntry | Job


def group_of(job: Job) -> Group:
    """The group that a job belongs to."""
    if job.archived:
        return Group.ARCHIVED
    state = job.state  # read once: it is computed from the batches
    if state in NEEDS_USER:
        return Group.NEEDS_YOU
    if state is JobState.DRAFT:
        return Group.DRAFTS
    return Group.FINISHED if state is JobState.DONE else Group.WORKING


def arrange(jobs: Iterable[Job], find: str = "") -> list[Entry]:
    """Groups and jobs as lines, the latest job first in each group; only jobs of which the name or a tag contains
    `find`, in any case, also those in the archive."""
    groups, wanted = JobGroups(), find.strip().casefold()
    groups.show(tuple(job for job in jobs if any(wanted in word.casefold() for word in (job.name, *job.tags))))
    return groups.lines() + (groups.archive() if wanted else [])


class JobGroups:
    """The jobs of each group. All jobs may be handed over at each change: those that are the same objects stay."""

    def __init__(self) -> None:
        self._jobs: Sequence[Job] = ()
        self._identities: set[int] = set()
        self._members: dict[Group, list[Job]] = {group: [] for group in Group}  # the latest job last

    def show(self, jobs: Sequence[Job]) -> None:
        """Replace the jobs."""
        identities = set(map(id, jobs))
        came = [job for job in jobs if id(job) not in self._identities]
        for job in self._jobs:
            if id(job) not in identities:
                members = self._members[group_of(job)]
                del members[bisect_left(members, _order(job), key=_order)]
        if len(came) * 10 > len(jobs):
            for job in came:
                self._members[group_of(job)].append(job)
            for members in self._members.values():
                members.sort(key=_order)
        else:
            for job in came:
                insort(self._members[group_of(job)], job, key=_order)
        self._jobs, self._identities = jobs, identities

    def lines(self) -> list[Entry]:
        """Each group but the archive that has jobs, and below it these, the latest first."""
        return [line for group in Group if group is not Group.ARCHIVED for line in self._lines(group)]

    def archive(self) -> list[Entry]:
        """The same of the archive."""
        return self._lines(Group.ARCHIVED)

    def archived(self) -> int:
        """How many jobs are in the archive."""
        return len(self._members[Group.ARCHIVED])

    def _lines(self, group: Group) -> list[Entry]:
        members = self._members[group]
        return [GroupEntry(group, len(members)), *reversed(members)] if members else []


def _order(job: Job) -> tuple[float, float, str]:
    return job.finished_at or job.sent_at or job.created_at, job.created_at, job.id
