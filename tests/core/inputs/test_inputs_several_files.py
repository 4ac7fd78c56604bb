"""Texts in several files: collections, runs, judgements with documents, folders, and archives of folders."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import (
    CandidatePool,
    CandidateRule,
    Kind,
    Layout,
    Problem,
    Query,
    ReadOptions,
    Row,
    Source,
    Text,
)
from cfbatch_gui.core.inputs.items import read_items
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.jobs.drafts import as_recognised
from cfbatch_gui.core.messages import message
from tests.core.inputs.files import GRADED, POSITIVES, I, T, data_set, everything, json_lines, suggested, zipped
from tests.support.sentences import code_of, refuses

JUDGED = ReadOptions(candidates=CandidateRule(CandidatePool.JUDGED))


def beir(folder: Path) -> Path:
    folder.mkdir()
    (folder / "corpus.jsonl").write_text(
        json_lines(*[{"_id": f"d{n}", "title": f"T{n}", "text": f"text {n}"} for n in range(5)])
    )
    (folder / "queries.jsonl").write_text(json_lines({"_id": "q1", "text": "why"}, {"_id": "q2", "text": "who"}))
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\td3\t1\n")
    return folder


def test_beir_and_mteb_folders(tmp_path: Path) -> None:
    folder = beir(tmp_path / "scifact")
    _, layout, items = everything(folder, options=JUDGED)
    assert layout is Layout.LONG
    assert items == [
        Query(1, "why", "q1", (Text(1, "T1 text 1", "d1", "2"),)),
        Query(2, "who", "q2", (Text(2, "T3 text 3", "d3", "1"),)),
    ]
    (folder / "top_ranked.jsonl").write_text(json_lines({"query-id": "q1", "corpus-ids": ["d4", "d1", "gone"]}))
    items = everything(folder)[2]
    assert items[:2] == [
        Query(1, "why", "q1", (Text(1, "T4 text 4", "d4", ""),)),
        Query(2, "why", "q1", (Text(2, "T1 text 1", "d1", "2"),)),
    ]
    assert isinstance(items[2], Problem)
    assert "gone" in items[2].reason
    assert "top_ranked.jsonl" in open_source(folder).notices[1]
    assert len([item for item in everything(folder, Kind.EMBED)[2] if isinstance(item, Text)]) == 2


def test_a_trec_run_beside_its_corpus(tmp_path: Path) -> None:
    folder = beir(tmp_path / "c")
    run = folder / "bm25.run"
    run.write_text("q1 Q0 d1 1 1.5 tag\nq1 Q0 d2 2 9.25 tag\nq2 Q0 d0 1 3e0 tag\n")
    for path in (run, folder):
        found = [(item.id, item.contexts[0].id) for item in everything(path)[2] if isinstance(item, Query)]
        assert found == [("q1", "d2"), ("q1", "d1"), ("q2", "d0")]  # by descending score, regardless of the rank column
    ranked = folder / "run.tsv"  # MS MARCO's
    ranked.write_text("q1\td2\t2\nq1\td1\t1\nq2\td0\t1\n")
    found = [(item.id, item.contexts[0].id) for item in everything(ranked)[2] if isinstance(item, Query)]
    assert found == [("q1", "d1"), ("q1", "d2"), ("q2", "d0")]
    for wrong in ("q1 Q0 d1 1 nan tag", "q1 Q0 d1 1 1.5", "q1 Q0 d1 1 high tag"):
        run.write_text(f"q1 Q0 d0 1 2.5 tag\n{wrong}\nq1 Q0 d2 2 1.0 tag\n")
        with pytest.raises(InputError):
            everything(run)
    judged = tmp_path / "judged.txt"
    judged.write_text("q1 0 d1 2.0\nq1 0 d2 0.0\nq2 0 d1 1.5\n")
    with pytest.raises(InputError):
        open_source(judged)
    ranked.unlink()
    run.write_text("q1 Q0 d1 1 1.5 tag\n")
    alone = tmp_path / "run.txt"
    alone.write_text(run.read_text())
    with refuses(InputError, "name_is_trec_run_names_queries"):
        open_source(alone)


def test_quepid_ratings_with_their_documents(tmp_path: Path) -> None:
    ratings, documents = tmp_path / "ratings.csv", tmp_path / "docs.csv"
    ratings.write_text("query,docid,rating\nlamp,7,3\nlamp,8,0\nchair,,\nlamp,99,1\n")
    documents.write_text("id,text\n7,A warm lamp for the desk\n8,A cold chair\n")
    first, second = open_source(ratings), open_source(documents)
    mapping = suggested(first, None, second)
    assert (mapping.layout, check_mapping(mapping, first, second)) == (Layout.CANDIDATES, "")
    items = list(read_items(first, mapping, second))
    assert items[0] == Query(2, "lamp", "", (Text(2, "A warm lamp for the desk", "7", "3"),))
    assert [item.row for item in items if isinstance(item, Problem)] == [4, 5]
    alone = suggested(first)
    assert check_mapping(alone, first) == message("add_second_file_holds_texts_their")


def test_in_a_folder_an_encoding_that_is_met_late_is_a_problem_and_no_guess(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number:03}.txt").write_text("one")
    (tmp_path / "late.txt").write_bytes("größer".encode("cp1252"))
    source = open_source(tmp_path)
    assert (source.encoding, source.is_encoding_guessed) == ("", False)
    assert code_of(list(read_rows(source))[-1].problem) == "name_does_not_say_encoding_save"


def packed(path: Path, files: dict[str, bytes]) -> Path:
    path.write_bytes(zipped(*files.items()))
    return path


def test_a_folder_of_texts_in_an_archive(tmp_path: Path) -> None:
    files = {
        "notes/b.md": b"# Two\n\nlines\n",
        "notes/a.txt": "größer".encode("utf-16"),
        "notes/sub/c.txt": "größer".encode("cp1252"),
        "notes/picture.png": b"\x89PNG",
        "__MACOSX/notes/._a.txt": b"x",
    }
    path = packed(tmp_path / "notes.zip", files)
    source = open_source(path)
    rows = list(read_rows(source))
    assert [row.cells for row in rows] == [("a.txt", "größer"), ("b.md", "# Two\n\nlines"), ("sub/c.txt", "größer")]
    assert (source.encoding, source.is_encoding_guessed) == ("cp1252", True)
    assert source.notices == (message("n_files_folder_are_not_text", n=1),)
    assert suggested(source).roles == (I, T)
    told = list(read_rows(open_source(path, ReadOptions(encoding="cp850"))))
    assert [row.cells[1] for row in told] == ["größer", "# Two\n\nlines", "gr÷▀er"]
    without_folder = packed(tmp_path / "flat.zip", {"a.txt": b"one", "x/b.txt": b"two"})
    assert [row.cells[0] for row in read_rows(open_source(without_folder))] == ["a.txt", "x/b.txt"]


def test_an_archive_with_the_slashes_of_windows_gives_the_same_ids(tmp_path: Path) -> None:
    files = {r"notes\a.txt": b"one", r"notes\sub\b.txt": b"two", r"__MACOSX\notes\._a.txt": b"x"}
    rows = read_rows(open_source(packed(tmp_path / "notes.zip", files)))
    assert [row.cells for row in rows] == [("a.txt", "one"), ("sub/b.txt", "two")]


def test_a_damaged_archive_of_texts_is_told_file_by_file_or_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", {f"{n}.txt": f"text {n} ".encode() * 50 for n in range(3)})
    data = bytearray(path.read_bytes())
    data[45] ^= 0xFF  # in the first file
    path.write_bytes(data)
    rows = list(read_rows(open_source(path)))
    assert [bool(row.problem) for row in rows] == [True, False, False]
    with pytest.raises(InputError):
        open_source(packed(tmp_path / "b.zip", {"a.txt": b"one", "b.csv": b"x", "c.csv": b"y"}))


ONLY_JUDGED, CORPUS = CandidateRule(CandidatePool.JUDGED), CandidateRule(CandidatePool.CORPUS)
DRAWN = {"q1": ["d007", "d050", "d071", "d099", "d104", "d118"], "q2": ["d012", "d060", "d089", "d099", "d108", "d114"]}


def opened(folder: Path, rule: CandidateRule | None = None) -> Source:
    return open_source(folder, ReadOptions(candidates=rule))


def ids(rows: Iterable[Row]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.cells[0], []).append(row.cells[2])
    return found


def candidates(folder: Path, rule: CandidateRule | None = None) -> dict[str, list[str]]:
    return ids(read_rows(opened(folder, rule)))


@pytest.mark.parametrize(
    ("labels", "usual"),
    [
        (POSITIVES, CandidateRule(CandidatePool.SAMPLE, 50)),
        (GRADED, ONLY_JUDGED),
        ({"q1": {"d001": 2, "d002": 1}}, ONLY_JUDGED),
        ({"q1": {"d001": 1}, "q2": {"d002": 0}}, CandidateRule()),  # within a query there is one grade
        ({"q1": {"d001": 0, "d002": -1}}, CandidateRule()),  # neither is relevant
    ],
)
def test_judged_texts_alone_are_ranked_where_their_grades_differ(
    tmp_path: Path, labels: dict[str, dict[str, int]], usual: CandidateRule
) -> None:
    assert opened(data_set(tmp_path / "set", labels)).candidates == usual


def test_a_sample_has_the_judged_texts_and_others_with_empty_labels(tmp_path: Path) -> None:
    rows = list(read_rows(opened(data_set(tmp_path / "set"))))
    found = ids(rows)
    assert {query: len(set(each)) for query, each in found.items()} == {"q1": 50, "q2": 50}
    labels = {(row.cells[0], row.cells[2], row.cells[5]) for row in rows if row.cells[5]}
    assert labels == {("q1", "d007", "1"), ("q1", "d050", "1"), ("q2", "d099", "1")}
    assert found["q1"] != found["q2"]
    assert all(row.cells[3] == f"text number {int(row.cells[2][1:])}" for row in rows)
    assert [row.number for row in rows] == list(range(1, 101))
    assert {row.cells[4] for row in rows} == {""}  # nothing ranked them before
    assert not [row.problem for row in rows if row.problem]


def test_a_sample_is_the_same_each_time_and_in_every_order_of_the_corpus(tmp_path: Path) -> None:
    one, other = data_set(tmp_path / "one"), data_set(tmp_path / "other", reverse=True)
    assert candidates(one) == candidates(one) == candidates(other)
    # What was drawn for a job is drawn again by later versions of the program.
    assert candidates(one, CandidateRule(size=6)) == DRAWN


def test_judged_texts_that_the_corpus_lacks_are_problems(tmp_path: Path) -> None:
    folder = data_set(tmp_path / "set", {"q1": {"gone": 1, "d001": 1}})
    problems = [row.problem for row in read_rows(opened(folder, CandidateRule(size=5))) if row.problem]
    assert problems == [message("corpus_no_document_id_document", document="gone")]
    assert sum(not row.problem for row in read_rows(opened(folder, CandidateRule(size=5)))) == 5
    assert not any(row.problem for row in read_rows(opened(folder, CORPUS)))


def test_the_choice_is_said_and_kept_with_what_is_read(tmp_path: Path) -> None:
    source = opened(data_set(tmp_path / "set"), CandidateRule(size=7))
    assert code_of(source.notices[1]) == "no_file_names_candidates_judged"
    again = open_source(source.path, as_recognised(source))
    assert again == source
