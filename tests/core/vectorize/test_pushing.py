"""A push: parts, resuming, only what changed, deletions, comparison; over a real socket; and what a search finds."""

import asyncio
from pathlib import Path

import msgspec
import numpy as np
import pytest

from cfbatch_gui.core.errors import ReplyError, ServiceBusy, ServiceRefused, TokenRefused, UsageError, UserError
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.vectorize.client import IndexMissing
from cfbatch_gui.core.vectorize.push_values import (
    IdSource,
    MetadataColumn,
    PushOptions,
    PushOutcome,
    PushProgress,
    PushStage,
)
from tests.canary import TOKEN
from tests.core.vectorize.conftest import OPTIONS, THROUGH, Answer, Bench, first, unit_vectors
from tests.support import faults
from tests.support.faulty_service import FaultyService
from tests.support.practice import PracticeServer
from tests.support.sentences import code_of, refuses
from tests.support.vectorize import file_of, service_with_indexes

VERIFIED = PushOutcome.VERIFIED


def theirs(identifier: str) -> list[bytes]:
    """A vector of somebody else's, as it is uploaded."""
    return [msgspec.json.encode({"id": identifier, "values": [1.0] * 32}) + b"\n"]


async def test_many_vectors_go_in_three_parts_and_are_found_there(bench: Bench) -> None:
    bench.most_vectors = 500
    await bench.ready(unit_vectors(1_200, 32))
    push = await bench.opened().push("one", *THROUGH, OPTIONS, show=bench.show)
    assert [len(each.ids) for each in bench.events()] == [500, 500, 200]
    assert (push.outcome, push.sent, push.in_index, push.compared) == (VERIFIED, 1_200, 1_200, 200)
    assert [each.done for each in bench.shown if each.stage is PushStage.SENDING] == [0, 500, 1_000, 1_200]
    assert bench.vectorize.pushes("one") == (push,)
    (headers, *_) = (headers for path, headers in bench.headers if path.endswith("/upsert"))
    assert headers["content-length"] == str(bench.sizes[0]) and "transfer-encoding" not in headers


async def test_ids_namespaces_and_metadata_arrive_as_they_were_chosen(bench: Bench) -> None:
    kept = {"sku": ("a-1", "a-2"), "shop": ("north", ""), "price": ("12.5", "3"), "code": ("007", "8"), "no": ("", "x")}
    await bench.ready(unit_vectors(2, 32), kept=kept)
    columns = tuple(MetadataColumn(name, f"the_{name}") for name in ("price", "code", "no"))
    await bench.vectorize.push("one", *THROUGH, PushOptions(IdSource.COLUMN, "sku", "shop", columns))
    found = {each.id: each for each in await bench.calls.get_by_ids("products", ["a-1", "a-2"])}
    assert found["a-1"].metadata == {"the_price": 12.5, "the_code": "007"}
    assert found["a-2"].metadata == {"the_price": 3, "the_code": "8", "the_no": "x"}
    assert (found["a-1"].namespace, found["a-2"].namespace) == ("north", None)


async def test_a_new_version_sends_what_changed_and_deletes_what_is_gone_if_asked(bench: Bench) -> None:
    old, new = unit_vectors(100, 32), unit_vectors(110, 32, seed=2)
    new[5:95] = old[5:95]
    names = [f"id-{number}" for number in range(115)]
    bench.add("old", old)
    bench.add("new", new[5:], ids=names[5:110])
    await bench.index()
    await bench.vectorize.push("old", *THROUGH, OPTIONS)
    check = await bench.vectorize.check("new", *THROUGH, OPTIONS)
    assert (check.new, check.changed, check.unchanged, check.gone) == (10, 5, 90, 5)
    assert check.gone_by_job == (("Job old", 5),)
    kept = await bench.vectorize.push("new", *THROUGH, OPTIONS)
    assert (kept.sent, kept.in_index, kept.outcome) == (15, 110, VERIFIED)
    removed = await bench.vectorize.push("new", *THROUGH, PushOptions(delete_removed=True))
    assert (removed.sent, removed.deleted, removed.in_index, removed.outcome) == (0, 5, 105, VERIFIED)
    assert [sorted(each.ids) for each in bench.events("delete")] == [names[:5]]


async def test_vectors_of_others_and_those_that_wait_for_new_ones_are_never_deleted(bench: Bench) -> None:
    bench.add("old", unit_vectors(5, 32), ids=["a", "b", "late-0", "late-1", "gone"])
    bench.add("new", unit_vectors(2, 32), ids=["a", "b"], waiting=2)
    await bench.index()
    await bench.calls.upsert("products", theirs("theirs"))
    await bench.vectorize.push("old", *THROUGH, OPTIONS)
    push = await bench.vectorize.push("new", *THROUGH, PushOptions(delete_removed=True))
    assert (push.deleted, push.in_index, push.outcome) == (1, 5, VERIFIED)
    assert [each.ids for each in bench.events("delete")] == [("gone",)]


async def test_a_part_whose_acknowledgement_was_lost_is_sent_again_even_if_the_old_version_comes_back(
    pushed: Bench,
) -> None:
    pushed.add("new", unit_vectors(10, 32, seed=2))
    pushed.after = first(6, "/upsert", (500, [{"code": 10001, "message": "x"}]))
    with pytest.raises(ServiceBusy):
        await pushed.vectorize.push("new", *THROUGH, OPTIONS)
    push = await pushed.opened().push("one", *THROUGH, OPTIONS)
    assert (push.sent, push.outcome) == (10, VERIFIED)


@pytest.mark.parametrize(
    ("action", "answer", "waited"),
    [
        ("/upsert", (429, [{"code": 0, "message": "x"}], {"retry-after": "7"}), 7.0),
        ("/upsert", (400, [{"code": 40041, "message": "Too Many Requests"}]), 15.0),
        ("/info", (500, [{"code": 10001, "message": "x"}]), 1.0),
        ("/get_by_ids", (200, []), 0.5),  # an index that lags
    ],
)
async def test_what_passes_is_waited_for(bench: Bench, action: str, answer: Answer, waited: float) -> None:
    await bench.ready(unit_vectors(10, 32))
    bench.before = first(2, action, answer)
    push = await bench.vectorize.push("one", *THROUGH, OPTIONS)
    assert (push.outcome, push.sent, push.in_index) == (VERIFIED, 10, 10)
    assert bench.waits[0] == waited


@pytest.mark.parametrize(
    ("status", "answer", "error", "code"),
    [
        (404, [{"code": 3000, "message": "x"}], IndexMissing, "there_is_no_index_index_account"),
        (413, [{"code": 40001, "message": "x"}], ServiceRefused, "vectorize_refused_is_took_nothing_details"),
        (400, [{"code": 40012, "message": "x"}], ServiceRefused, "vectors_another_length_than_those_index"),
        (403, [{"code": 10000, "message": "x"}], TokenRefused, "service_does_not_let_api_token"),
        (500, [{"code": 10001, "message": "x"}], ServiceBusy, "service_fault_own_just_now"),
        (200, {}, ReplyError, "service_sent_answer_program_cannot_read"),
    ],
)
async def test_each_end_in_the_middle_is_named_and_loses_nothing(
    bench: Bench, status: int, answer: object, error: type[UserError], code: str
) -> None:
    bench.most_vectors = 10
    vectorize = bench.opened()
    await bench.ready(unit_vectors(30, 32))
    uploads = [0]

    def second(path: str, _body: bytes) -> tuple[int, object] | None:
        uploads[0] += path.endswith("/upsert")
        return (status, answer) if path.endswith("/upsert") and uploads[0] > 1 else None

    bench.before = second
    with refuses(error, code) as raised:
        await vectorize.push("one", *THROUGH, OPTIONS)
    (stopped,) = bench.vectorize.pushes("one")
    assert (stopped.acknowledged, stopped.failure) == (10, str(raised.value))
    bench.before = lambda path, body: None
    push = await bench.opened().push("one", *THROUGH, OPTIONS)
    assert (push.sent, push.outcome, push.failure) == (20, VERIFIED, "")


async def test_a_token_that_may_not_read_is_told_which_permission_it_lacks(bench: Bench) -> None:
    bench.before = lambda path, body: (403, [{"code": 10000, "message": "Authentication error"}])
    with refuses(TokenRefused, "service_does_not_let_api_token", permission="Vectorize Read"):
        await bench.calls.list_indexes()


async def test_an_index_that_lags_too_long_is_a_named_end_and_can_be_checked_later(bench: Bench) -> None:
    bench.seconds_running = 3_000.0
    vectorize = bench.opened()
    await bench.ready(unit_vectors(10, 32))
    assert (await vectorize.push("one", *THROUGH, OPTIONS)).outcome is PushOutcome.NOT_YET
    bench.now += 3_000
    assert (await vectorize.verify("one", *THROUGH)).outcome is VERIFIED
    assert len(bench.events()) == 1


async def test_values_that_differ_and_vectors_that_are_missing_are_found_and_sent_again(bench: Bench) -> None:
    await bench.ready(unit_vectors(10, 32))
    vector = np.zeros(32).tolist()
    bench.after = lambda path, body: (200, [{"id": "id-0", "values": vector}]) if path.endswith("get_by_ids") else None
    push = await bench.vectorize.push("one", *THROUGH, OPTIONS)
    assert (push.outcome, push.missing, push.different) == (PushOutcome.DIFFERENT, 9, 1)
    bench.after = lambda path, body: None
    again = await bench.vectorize.push("one", *THROUGH, OPTIONS)
    assert (again.sent, again.outcome) == (10, VERIFIED)


async def test_a_count_below_what_was_sent_is_found(bench: Bench) -> None:
    await bench.ready(unit_vectors(300, 32))
    await bench.vectorize.push("one", *THROUGH, OPTIONS)
    await bench.calls.delete_by_ids("products", ["id-2"])  # not one of those that are read back
    found = await bench.vectorize.verify("one", *THROUGH)
    assert (found.outcome, found.in_index, found.expected) == (PushOutcome.DIFFERENT, 299, 300)


async def test_changes_by_somebody_else_are_said(pushed: Bench) -> None:
    await pushed.calls.upsert("products", theirs("x"))
    push = await pushed.vectorize.push("one", *THROUGH, OPTIONS)
    assert code_of(push.notes[0]) == "something_else_changed_index_since_last" and push.outcome is VERIFIED
    assert (await pushed.vectorize.push("one", *THROUGH, PushOptions(everything=True))).sent == 10


async def test_an_index_that_was_created_anew_gets_everything(pushed: Bench) -> None:
    pushed.now += 60
    file_of(pushed.root / "service").unlink()
    await pushed.index()
    push = await pushed.vectorize.push("one", *THROUGH, OPTIONS)
    assert (push.sent, push.outcome, len(push.notes)) == (10, VERIFIED, 1)
    assert code_of(push.notes[0]) == "index_was_created_anew_since_last"


async def test_one_push_at_a_time_goes_into_an_index(pushed: Bench) -> None:
    tasks: list[asyncio.Task[object]] = []

    def show(progress: PushProgress) -> None:
        if not tasks:
            tasks.append(asyncio.create_task(pushed.vectorize.push("one", *THROUGH, OPTIONS)))

    await pushed.vectorize.push("one", *THROUGH, OPTIONS, show=show)
    with refuses(UsageError, "push_into_index_is_under_way"):
        await tasks[0]


async def test_damaged_files_are_no_hindrance_and_without_the_record_everything_is_sent(pushed: Bench) -> None:
    saved = pushed.root / "data" / "jobs" / "one" / "vectorize.json"
    (record,) = (pushed.root / "data" / "vectorize").glob("*.db")
    for content in (b"{", b"{}", b"[{}]"):
        saved.write_bytes(content)
        assert pushed.vectorize.pushes("one") == ()
    record.write_bytes(b"not a database at all" * 100)
    push = await pushed.vectorize.push("one", *THROUGH, OPTIONS)
    assert (push.sent, push.outcome) == (10, VERIFIED)
    assert code_of(push.notes[0]) == "what_program_knew_about_vectors_index"
    assert pushed.vectorize.pushes("one") == (push,)


async def test_what_is_not_in_the_index_as_it_is_now_cannot_be_compared(bench: Bench) -> None:
    bench.add("old", unit_vectors(4, 32))
    bench.add("new", unit_vectors(3, 32, seed=2), ids=["id-0", "id-1", "x"])
    await bench.index()
    await bench.vectorize.push("old", *THROUGH, OPTIONS)
    await bench.vectorize.push("new", *THROUGH, OPTIONS)
    with refuses(UsageError, "n_vectors_job_are_not_index", n=2):
        await bench.vectorize.verify("old", *THROUGH)
    assert (await bench.vectorize.verify("new", *THROUGH)).outcome is VERIFIED
    assert (await bench.vectorize.push("new", *THROUGH, OPTIONS)).sent == 0


@pytest.mark.parametrize("billed", [False, True], ids=["unapplied", "applied"])
async def test_an_upload_whose_answer_is_lost_is_repeated(tmp_path: Path, billed: bool) -> None:
    service = service_with_indexes(tmp_path / "service", load_model=HashedNgrams)
    lost = faults.reset_after_body(on="upload", number=2, times=2, billed=billed)
    async with FaultyService(service, [lost]) as faulty:
        bench = Bench(tmp_path, faulty.url, most_vectors=20)
        await bench.ready(unit_vectors(60, 32))
        push = await bench.vectorize.push("one", *THROUGH, OPTIONS)
        assert (push.outcome, push.sent, push.in_index) == (VERIFIED, 60, 60)
        assert len(bench.events()) == (5 if billed else 3)
        assert (await bench.opened().push("one", *THROUGH, OPTIONS)).sent == 0


async def test_large_parts_go_over_http_in_pieces(tmp_path: Path) -> None:
    with PracticeServer(tmp_path / "service", token=TOKEN, load_model=HashedNgrams) as server:
        bench = Bench(tmp_path, server.url, most_bytes=5_000_000)
        await bench.ready(unit_vectors(500, 1_024))
        push = await bench.vectorize.push("one", *THROUGH, OPTIONS)
    assert push.outcome is VERIFIED
    assert len(bench.events()) == 2


TEXTS = [f"text {number}" for number in range(200)]


async def push_texts(bench: Bench) -> None:
    bench.add("one", HashedNgrams().embed(TEXTS))
    await bench.index(dimensions=1_024)
    await bench.vectorize.push("one", *THROUGH, OPTIONS)


async def test_an_exact_index_finds_all_of_the_nearest(bench: Bench) -> None:
    await push_texts(bench)
    found = await bench.vectorize.search("one", *THROUGH, "text 17")
    assert (found.hits[0].text, found.hits[0].id, found.exact[0].text) == ("text 17", "id-17", "text 17")
    assert len(found.hits) == len(found.exact) == 10
    assert found.shared == 10


async def test_what_the_index_misses_is_counted(bench: Bench) -> None:
    await push_texts(bench)
    exact = await bench.vectorize.search("one", *THROUGH, "text 17")
    far = [{"id": "id-150", "score": 0.1}, *({"id": each.id, "score": each.score} for each in exact.hits[1:])]
    bench.before = lambda path, body: (200, {"matches": far}) if path.endswith("/query") else None
    found = await bench.vectorize.search("one", *THROUGH, "text 17")
    assert found.shared == 9
    bench.before = lambda path, body: (200, {"matches": [{"id": "theirs"}]}) if path.endswith("/query") else None
    found = await bench.vectorize.search("one", *THROUGH, "text 17")
    assert (found.hits[0].text, found.sentence.code) == (None, "index_also_holds_vectors_are_not")


async def test_vectors_of_another_length_cannot_be_searched(bench: Bench) -> None:
    bench.add("one", unit_vectors(3, 48))
    await bench.index()
    with refuses(UsageError, "index_holds_vectors_wanted_numbers_those"):
        await bench.vectorize.search("one", *THROUGH, "text 17")
    assert not [path for path in bench.called if path.endswith("/query") or "/ai/run" in path]
