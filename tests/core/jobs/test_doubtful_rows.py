"""Rows whose quotation marks look misplaced: left out and named, or sent as they were read and noted."""

import csv
from collections.abc import Callable
from pathlib import Path

from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind
from cfbatch_gui.core.job_folder.row_problems import count_sent_rows, problems, row_problems, save_problems
from cfbatch_gui.core.results.exports import export, target_for
from tests.core.jobs.conftest import Bench

Write = Callable[[str, str], Path]

# Row 3 goes on after a closing quotation mark, row 5 has one of no pair, row 6 opens one that is not closed in it.
TEXTS = 'id,text,note\n1,one,a\n2,"two" and more,b\n3,three,c\n4,5" screen,d\n5,"six,e\n6,seven,f\n'
TWO, SCREEN = ("2", "two and more", "b"), ("4", '5" screen', "d")


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.reader(stream))


async def test_left_out_they_are_counted_and_can_be_mended(bench: Bench, write: Write, tmp_path: Path) -> None:
    job = bench.draft(write("a.csv", TEXTS), Kind.EMBED)
    folder = bench.drafts.folder(job.id)
    assert (job.rows_in, job.texts, job.problems) == (6, 3, 3)
    assert [(each.row, each.kind, each.raw) for each in problems(folder)] == [
        (3, ProblemKind.DOUBTFUL_ROW, '2,"two" and more,b'),
        (5, ProblemKind.DOUBTFUL_ROW, '4,5" screen,d'),
        (6, ProblemKind.UNREADABLE_ROW, '5,"six,e'),
    ]
    sentences = [count.sentence for count in bench.drafts.examine(job.id).problems]
    assert "2 rows may have been misread and will be left out." in sentences
    assert save_problems(folder, tmp_path / "mend.csv", kind=ProblemKind.DOUBTFUL_ROW) == 2
    head, *found = rows(tmp_path / "mend.csv")
    assert head == ["row", "reason", "id", "text", "note", "in the file"]
    assert [row[2:] for row in found] == [[*TWO, '2,"two" and more,b'], [*SCREEN, '4,5" screen,d']]
    job = await bench.run(job)
    assert count_sent_rows(folder) == 3
    assert [(each.row, each.kind, each.cells) for each in row_problems(folder)][:2] == [
        (3, ProblemKind.DOUBTFUL_ROW, TWO),
        (5, ProblemKind.DOUBTFUL_ROW, SCREEN),
    ]
    target = target_for(tmp_path / "failed.csv", Kind.EMBED, "failed")
    export(folder, metadata_of(job, ""), tmp_path / "failed.csv", target)
    head, *found = rows(tmp_path / "failed.csv")
    assert head == ["id", "text", "note", "row_number", "reason", "in_the_file"]
    assert [(row[3], row[5]) for row in found] == [
        ("3", '2,"two" and more,b'),
        ("5", '4,5" screen,d'),
        ("6", '5,"six,e'),
    ]
