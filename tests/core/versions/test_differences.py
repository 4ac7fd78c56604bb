"""What became of each row between two versions of a file."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.versions import (
    Change,
    Differences,
    changes_of,
    compare_versions,
    find_predecessor,
    new_words,
    read_rows,
)


def filled(folder: Path, name: str, content: str, kind: Kind = Kind.EMBED) -> JobFolder:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv"
    path.write_text(content, encoding="utf-8")
    source = open_source(path)
    made = JobFolder(folder / name)
    fill(made, source, suggest_mapping(source, kind, preview(source)))
    return made


def table(*rows: str, header: str = "id,text") -> str:
    return "\n".join((header, *rows)) + "\n"


def ids(folder: JobFolder, items: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> list[str]:
    return [row.id for row in read_rows(folder, items.tolist())]


def compared(
    tmp_path: Path, earlier: str, newer: str, kind: Kind = Kind.EMBED
) -> tuple[JobFolder, JobFolder, Differences]:
    old, new = filled(tmp_path, "old", earlier, kind), filled(tmp_path, "new", newer, kind)
    return old, new, compare_versions(new, old)


def test_texts_are_compared_by_their_ids(tmp_path: Path) -> None:
    old, new, found = compared(
        tmp_path,
        table("A,red lamp", "B,blue chair", "C,green table", "D,grey sofa"),
        table("A,red lamp", "C,green oak table", "E,white shelf", "F,grey sofa"),
    )
    assert (ids(new, found.added), ids(new, found.changed), ids(new, found.moved)) == (["E"], ["C"], ["F"])
    assert (ids(new, found.unchanged), ids(old, found.removed)) == (["A"], ["B"])
    assert ids(old, found.gone) == ["B", "D"]
    assert ids(old, found.was[found.changed - 1]) == ["C"]
    assert ids(old, found.was[found.moved - 1]) == ["D"]
    assert changes_of(found, [1, 2, 3, 4]) == [Change.UNCHANGED, Change.CHANGED, Change.ADDED, Change.MOVED]
    assert ids(new, found.differing) == ["C", "E", "F"]


def test_texts_without_ids_are_as_before_or_new(tmp_path: Path) -> None:
    _, new, found = compared(
        tmp_path,
        table("red lamp,wood", "blue chair,oak", "red lamp,pine", header="text,made of"),
        table("red lamp,wood", "green table,oak", header="text,made of"),
    )
    assert not found.are_by_id
    assert [row.text for row in read_rows(new, found.added.tolist())] == ["green table"]
    assert (len(found.unchanged), len(found.removed), len(found.moved), len(found.changed)) == (1, 2, 0, 0)


def test_a_ranking_is_compared_by_query_and_text(tmp_path: Path) -> None:
    header = "query,id,text"
    old, new, found = compared(
        tmp_path,
        table("q one,d1,red", "q one,d2,blue", "q two,d1,red", header=header),
        table("q one,d1,red", "q one,d2,light blue", "q three,d1,red", header=header),
        Kind.RANK,
    )
    assert [(row.query, row.id) for row in read_rows(new, found.changed.tolist())] == [("q one", "d2")]
    assert [(row.query, row.id) for row in read_rows(new, found.added.tolist())] == [("q three", "d1")]
    assert [(row.query, row.id) for row in read_rows(old, found.removed.tolist())] == [("q two", "d1")]


@pytest.mark.parametrize(
    ("newer", "is_version"),
    [
        (("1,red lamp", "2,blue oak chair", "3,white shelf"), True),
        (("1,a cat", "2,a dog", "3,a bird"), False),  # 1, 2, 3 … are the ids of any file
        (("7,red lamp", "8,blue chair", "9,green table"), False),
    ],
)
def test_an_earlier_version_has_half_of_the_ids_and_some_of_the_texts(
    tmp_path: Path, newer: tuple[str, ...], is_version: bool
) -> None:
    contents = {"old": ("1,red lamp", "2,blue chair", "3,green table"), "new": newer}
    folders = {name: filled(tmp_path, name, table(*rows)) for name, rows in contents.items()}
    old, new = (
        Job(name, name, Kind.EMBED, "m", "practice", float(at), source_name="a.csv", is_sent=name == "old")
        for at, name in enumerate(folders)
    )
    assert (find_predecessor(new, [new, old], folders.__getitem__) is old) == is_version


@given(st.data())
def test_every_item_has_one_change_and_the_earlier_item_it_is_compared_with(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    names, texts = st.sampled_from("ABCDEFG"), st.sampled_from(["red", "blue", "green", "grey"])
    rows = st.lists(st.tuples(names, texts), min_size=1, max_size=12)
    earlier, newer = data.draw(rows), data.draw(rows)
    folder = tmp_path_factory.mktemp("versions")
    _, _, found = compared(folder, table(*(",".join(row) for row in earlier)), table(*(",".join(row) for row in newer)))
    everything = np.sort(np.concatenate((found.added, found.changed, found.moved, found.unchanged)))
    assert everything.tolist() == list(range(1, len(newer) + 1))
    for item in everything.tolist():
        was = int(found.was[item - 1])
        identifier, text = newer[item - 1]
        if item in found.unchanged:
            assert earlier[was - 1] == (identifier, text)
        elif item in found.changed:
            assert earlier[was - 1][0] == identifier and earlier[was - 1][1] != text
        elif item in found.moved:
            assert earlier[was - 1][1] == text
        else:
            assert was == 0 and not any(earlier[number - 1][1] == text for number in found.removed.tolist())
    kept = {row[0] for row in newer}
    assert all(row[0] in kept or number in found.gone for number, row in enumerate(earlier, 1))
    came_from = [int(found.was[item - 1]) for item in everything.tolist() if found.was[item - 1]]
    assert sorted([*came_from, *found.removed.tolist()]) == list(range(1, len(earlier) + 1))  # the counts add up


def test_the_words_that_are_new_are_marked() -> None:
    text = "Cast-iron pan, 28 cm, pre-seasoned, 5 year guarantee"
    assert [text[a:b] for a, b in new_words(text, "Cast-iron pan, 28 cm, enamelled")] == [
        "pre-seasoned, 5 year guarantee"
    ]
    tent = "Two-person tent, 1.7 kg, set up in four minutes"
    assert [tent[a:b] for a, b in new_words(tent, "Two-person tent, 1.9 kg, set up in four minutes")] == ["7"]
    assert new_words("the same", "the same") == []
    assert new_words("word " * 700, "") == []
