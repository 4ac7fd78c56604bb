"""The groups of jobs, changed job by job, are those of the same jobs put together anew."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.ui.jobs.library_list import Group, GroupEntry, JobGroups, arrange

DRAFT = Job("0", "a job", Kind.EMBED, "@cf/baai/bge-m3", "practice", 1.0)
_states = st.sampled_from([BatchState.DONE, BatchState.OUTCOME_UNKNOWN, BatchState.QUEUED, None])
Change = tuple[int, BatchState | None, int, bool, bool]
_changes = st.lists(
    st.tuples(st.integers(0, 30), _states, st.integers(0, 5), st.booleans(), st.booleans()), max_size=40
)


def job(number: int, state: BatchState | None, at: int, *, archived: bool) -> Job:
    fresh = replace(DRAFT, id=str(number), created_at=float(number % 7), archived=archived)
    if state is None:
        return fresh
    batch = Batch(fresh.id, 1, state, 1, 1, 1, request_id="r" if state is BatchState.DONE else "")
    return replace(fresh, is_sent=True, sent_at=float(at), batches=(batch,))


@given(_changes)
def test_a_changed_job_stands_where_it_would_stand_anew(changes: list[Change]) -> None:
    jobs = {str(number): job(number, BatchState.DONE, 0, archived=False) for number in range(20)}
    groups = JobGroups()
    for number, state, at, archived, is_deleted in changes:
        jobs.pop(str(number), None)
        if not is_deleted:
            jobs[str(number)] = job(number, state, at, archived=archived)
        groups.show(tuple(jobs.values()))
        assert groups.lines() == arrange(jobs.values())
        assert groups.lines() + groups.archive() == arrange(jobs.values(), "a job")


def test_the_latest_job_stands_first_and_a_group_says_how_many_it_has() -> None:
    first, second = job(1, BatchState.DONE, 1, archived=False), job(2, BatchState.DONE, 2, archived=False)
    assert arrange([first, second]) == [GroupEntry(Group.FINISHED, 2), second, first]
