"""Drafts are filled, estimated, changed, copied and deleted; and the texts of a finished job can be removed."""

import asyncio
import csv
import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import FileFormat, Kind, Layout, Mapping, ProblemKind, ReadOptions, Role
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.job_folder.folder import JobFolder, texts_forgotten
from cfbatch_gui.core.job_folder.row_problems import problems
from cfbatch_gui.core.jobs.drafts import as_recognised
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports import ExportOptions, export, target_for
from cfbatch_gui.core.results.rankings import Rankings
from tests.core.jobs.conftest import CLOUDS, Bench
from tests.support.inputs import as_suggested
from tests.support.sentences import code_of, refuses

GAPS = "question,answer\nq one,a\nq one,\n,b\nq two,c\n"


async def test_rows_that_are_not_sent_are_counted_and_named(bench: Bench) -> None:
    job = bench.draft(bench.write("gaps.csv", GAPS), Kind.RANK)
    assert (job.rows_in, job.queries, job.texts, job.problems) == (4, 2, 2, 2)
    found = problems(bench.drafts.folder(job.id))
    assert [(problem.row, problem.cells) for problem in found] == [(3, ("q one", "")), (4, ("", "b"))]
    preflight = bench.drafts.examine(job.id)
    assert sorted(count.sentence for count in preflight.problems) == [
        "1 row has no candidate and will be left out.",
        "1 row has no query and will be left out.",
    ]
    assert preflight.blocker == "" and preflight.price_high.dollars > 0


async def test_doubtful_rows_are_saved_and_exported_as_read_and_as_they_stand(bench: Bench, tmp_path: Path) -> None:
    content = 'id,text,note\n1,one,a\n2,"two" and more,b\n3,three,c\n4,5" screen,d\n5,"six,e\n6,seven,f\n'
    job = await bench.run(bench.draft(bench.write("a.csv", content), Kind.EMBED))
    folder, mended, failed = bench.drafts.folder(job.id), tmp_path / "mend.csv", tmp_path / "failed.csv"
    target, doubtful = target_for(failed, Kind.EMBED, "failed"), ExportOptions(problem=ProblemKind.DOUBTFUL_ROW)
    assert export(folder, job, mended, target, options=doubtful).rows == 2
    export(folder, job, failed, target)
    (head, *rows), (names, *lines) = (csv.reader(each.read_text("utf-8-sig").splitlines()) for each in (mended, failed))
    assert names == head == ["id", "text", "note", "Row", "Reason", "In the file"]
    assert [[*row[:3], row[5]] for row in rows] == [
        ["2", "two and more", "b", '2,"two" and more,b'],
        ["4", '5" screen', "d", '4,5" screen,d'],
    ]
    raw = [("3", '2,"two" and more,b'), ("5", '4,5" screen,d'), ("6", '5,"six,e')]
    assert [(line[3], line[5]) for line in lines] == raw


async def test_stopping_to_read_leaves_the_draft_as_it_was(bench: Bench) -> None:
    job = bench.clouds()
    many = bench.write("many.csv", CLOUDS * 20_000)

    class StoppedError(Exception):
        pass

    def stop(_: int) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        bench.drafts.load(job.id, *as_suggested(many, Kind.RANK), progress=stop)
    assert bench.ledger.job(job.id).source_name == "clouds.csv"
    assert not list(bench.drafts.folder(job.id).path.glob("*.new.db"))


async def test_a_copy_of_a_finished_job_whose_file_is_gone_is_a_clean_draft(bench: Bench) -> None:
    job = bench.clouds()
    (bench.paths.root.parent / "clouds.csv").unlink()
    done = await bench.run(job)
    bench.ledger.change(done.id, lambda job: replace(job, account_problem="It has stopped.", account_cleared_at=1.0))
    copy = bench.drafts.duplicate(done.id, "again")
    assert copy.state is JobState.DRAFT and copy.batches == () and copy.sent_at == 0
    assert (copy.account_problem, copy.account_cleared_at) == ("", 0.0)
    assert [score for _, score in bench.scores(copy.id)] == [None] * 3
    assert (await bench.run(copy)).state is JobState.DONE
    assert bench.scores(copy.id) == bench.scores(done.id)


async def test_tags_are_kept_clean(bench: Bench) -> None:
    job = bench.clouds()
    (tagged,) = bench.drafts.tag({job.id: ["  two\n words ", "May", "may", "", "x" * 100]})
    assert tagged.tags == ("may", "two words", "x" * 40)
    assert bench.ledger.job(job.id).tags == tagged.tags


async def test_a_deleted_job_whose_folder_cannot_be_removed_does_not_come_back(bench: Bench) -> None:
    job = bench.clouds()
    folder = bench.drafts.folder(job.id).path
    elsewhere = folder.rename(folder.parent.parent / "on another disk")
    folder.symlink_to(elsewhere, target_is_directory=True)  # which is not removed: it was made by hand
    bench.drafts.delete(job.id)
    bench.drafts.clear_deleted()
    assert [each.id for each in bench.ledger.deleted_jobs()] == [job.id] and bench.ledger.jobs() == ()
    folder.unlink()
    bench.drafts.clear_deleted()
    assert bench.ledger.deleted_jobs() == ()


async def test_a_sent_job_is_not_changed(bench: Bench) -> None:
    done = await bench.run(bench.clouds())
    with refuses(UsageError, "job_was_sent_already_duplicate_send"):
        bench.drafts.change(done.id, kind=Kind.EMBED)
    with refuses(UsageError, "job_was_sent_already_duplicate_send"):
        await bench.actions.send(done.id)


async def test_a_draft_without_texts_says_what_is_missing(bench: Bench) -> None:
    job = bench.drafts.create(Kind.RANK, "gaps", "@cf/baai/bge-m3", "cloudflare")
    mapping = Mapping(Kind.RANK, Layout.LONG, (Role.QUERY, Role.CONTEXT))
    bench.drafts.load(job.id, open_source(bench.write("gaps.csv", "question,answer\nq,\n")), mapping)
    assert code_of(bench.drafts.examine(job.id).blocker) == "no_row_both_query_context_choose"
    with refuses(UsageError, "there_is_nothing_send_no_row"):
        await bench.actions.send(job.id)


@pytest.mark.parametrize("text", ["id\ttext\n1\tone\n2\ttwo\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "one\ntwo\n"])
@pytest.mark.parametrize("unit", [None, FileFormat.LINES, FileFormat.WHOLE])
def test_a_file_is_opened_again_as_it_was_read(tmp_path: Path, text: str, unit: FileFormat | None) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    source = open_source(path, ReadOptions(unit=unit))
    assert open_source(path, as_recognised(source)) == source


PAIRS = "query,answer,price\n" + "".join(
    f"zebrafish question {q},zebrafish answer {q} {c},zebrafish {c} crowns\n" for q in range(4) for c in range(3)
)


def is_anywhere(folder: JobFolder, word: bytes) -> list[str]:
    """The files of a folder that have a word in them, answers unpacked."""
    found = []
    for path in folder.path.rglob("*"):
        if path.is_file():
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            if word in data:
                found.append(path.name)
    return found


async def test_a_ranking_keeps_scores_and_says_rows(bench: Bench) -> None:
    job = await bench.run(bench.draft(bench.write("pairs.csv", PAIRS), Kind.RANK))
    folder, before = bench.store.folder(job.id), bench.scores(job.id)
    assert texts_forgotten(folder) is None and is_anywhere(folder, b"zebrafish")
    await bench.actions.forget_texts(job.id)
    assert is_anywhere(folder, b"zebrafish") == []
    assert [score for _, score in bench.scores(job.id)] == [score for _, score in before]
    ranked = [context for block in Rankings(folder).blocks() for context in block]
    # as a spreadsheet counts, with the header
    assert {context.query for context in ranked} == {"Row 2", "Row 5", "Row 8", "Row 11"}
    assert {context.text for context in ranked} == {f"Row {row}" for row in range(2, 14)}
    assert texts_forgotten(folder) is not None


async def test_vectors_stay_bit_for_bit_and_ids_stand_for_texts(bench: Bench) -> None:
    path = bench.write("texts.csv", "id,text\n" + "".join(f"a-{n},zebrafish number {n}\n" for n in range(150)))
    job = await bench.run(bench.draft(path, Kind.EMBED))
    folder = bench.store.folder(job.id)
    before = np.load(folder.vectors)
    await bench.actions.forget_texts(job.id)
    await bench.actions.forget_texts(job.id)  # once more does no harm
    assert is_anywhere(folder, b"zebrafish") == []
    assert np.array_equal(np.load(folder.vectors), before)
    embeddings = Embeddings(folder)
    assert embeddings.checks().missing == 0
    assert [row.text for row in embeddings.page(0, 2)] == ["a-0", "a-1"]


async def test_nothing_can_be_sent_again_without_texts(bench: Bench) -> None:
    job = bench.draft(bench.write("many.txt", "".join(f"zebrafish number {n}\n" for n in range(250))), Kind.EMBED)
    with refuses(UsageError, "only_finished_job_can_do_without"):
        await bench.actions.forget_texts(job.id)
    job = await bench.run(job)
    await bench.actions.forget_texts(job.id)
    actions = bench.actions
    for sending in (
        *(actions.send_again(job.id), actions.send_again(job.id, 1)),
        asyncio.to_thread(bench.drafts.duplicate, job.id, "copy"),
    ):
        with refuses(UsageError, "texts_job_were_removed_cannot_be"):
            await sending
    assert len(bench.ledger.jobs()) == 1
    assert len(bench.accepted_bodies()) == 1
    assert bench.store.job(job.id).state is JobState.DONE
