"""The groups of a job, for people and for programs."""

from collections.abc import Iterator
from pathlib import Path

from cfbatch_gui.cli.console import elided, fields_of, table
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports.base import Work
from cfbatch_gui.core.results.exports.group_rows import lines_of_groups
from cfbatch_gui.core.results.job_groups import JobGroups
from cfbatch_gui.words.figures import number, plural, score_text, worded
from cfbatch_gui.words.languages import tr

_NAME = 48  # columns


def lines_of_job_groups(found: JobGroups, job: Job, folder: JobFolder, width: int) -> Iterator[str]:
    """A line for each group, then how many rows are in none."""
    rows = [
        [number(int(str(at))), elided(str(name), _NAME), number(int(str(size))), str(text)]
        for at, name, size, text in lines_of_groups(Work(folder, job, Path()), found)
    ]
    yield from table((tr("GROUP"), tr("NAME"), tr("ROWS"), tr("MOST TYPICAL")), rows, width)
    yield ""
    yield plural(len(found.groups), "{n} group", "{n} groups") + _likeness_words(found)


def _likeness_words(found: JobGroups) -> str:
    if found.likeness is None:
        return ""
    alone = int((found.members < 0).sum())
    return worded(
        "; all rows of a group are alike from {likeness}; in no group: {n}",
        likeness=score_text(found.likeness),
        n=alone,
    )


def facts_of_groups(found: JobGroups, folder: JobFolder) -> dict[str, object]:
    embeddings = Embeddings(folder)

    def rows_of(group: int) -> list[int]:
        return [text.row for text in embeddings.texts(found.items_of(group).tolist())]

    groups = [
        {**fields_of(each, "name", "size", "similarity"), "rows": rows_of(at)} for at, each in enumerate(found.groups)
    ]
    return {"likeness": found.likeness, "groups": groups, "in_no_group": rows_of(-1)}
