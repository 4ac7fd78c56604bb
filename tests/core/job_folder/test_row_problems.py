"""The CSV file of the rows that were left out, to be corrected and loaded again."""

from pathlib import Path

import pytest

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind, ReadOptions
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder, SavedDraft
from cfbatch_gui.core.job_folder.row_problems import problem_columns, save_problems


def filled(folder: Path, first: Path, second: Path | None = None) -> JobFolder:
    job = JobFolder(folder)
    source = open_source(first)
    other = open_source(second) if second else None
    sample = preview(other) if other else ()
    mapping = suggest_mapping(source, Kind.RANK, preview(source), other, sample)
    fill(job, source, mapping, other)
    job.save_draft(SavedDraft(str(first), ReadOptions(separator=source.separator), mapping))
    return job


def test_cells_stand_as_they_were_under_row_and_reason(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(
        'question;answer;note\nwhy;because;x\nhow;;"=1+1; ""so"""\n;an answer;0012\nwhat;this\n', encoding="utf-8"
    )
    job = filled(tmp_path / "job", path)
    target = tmp_path / "out.csv"
    assert save_problems(job, target) == 3
    assert target.read_bytes().startswith(b"\xef\xbb\xbf")
    lines = target.read_text("utf-8-sig").splitlines()
    assert lines[0] == "row;reason;question;answer;note;in the file"
    assert lines[1] == '3;There is no text in “answer”.;how;;"=1+1; ""so""";'
    assert lines[2].endswith(";;an answer;0012;")
    assert lines[3].startswith("5;") and lines[3].endswith(';what;this;;"what;this"')


def test_one_kind_of_problem_alone(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("question,answer\nwhy,because\nhow,\n,an answer\n", encoding="utf-8")
    job = filled(tmp_path / "job", path)
    assert save_problems(job, tmp_path / "out.csv", kind=ProblemKind.EMPTY_QUERY) == 1
    assert (tmp_path / "out.csv").read_text("utf-8-sig").splitlines()[1:] == [
        "4,There is no query in “question”.,,an answer"
    ]


def test_a_second_file_has_its_own_columns(tmp_path: Path) -> None:
    first, second = tmp_path / "queries.csv", tmp_path / "answers.csv"
    first.write_text("id,question\n1,why\n2,how\n", encoding="utf-8")
    second.write_text("sku,answer,more\nA,because,x\nB,,y\n", encoding="utf-8")
    job = filled(tmp_path / "job", first, second)
    assert problem_columns(job, file=2) == ("sku", "answer", "more")
    assert save_problems(job, tmp_path / "out.csv") == 1
    assert (tmp_path / "out.csv").read_text("utf-8-sig").splitlines() == [
        "file,row,reason,sku,answer,more",
        "2,3,There is no text in “answer”.,B,,y",
    ]


def test_a_place_that_cannot_be_written_is_an_export_error(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("question,answer\nwhy,because\nhow,\n", encoding="utf-8")
    job = filled(tmp_path / "job", path)
    with pytest.raises(ExportError):
        save_problems(job, tmp_path / "nowhere" / "out.csv")
