"""A push: parts, resuming, only what changed, deletions, and the comparison at its end."""

import asyncio

import msgspec
import numpy as np
import pytest

from cfbatch_gui.core.errors import ServiceBusy, ServiceRefused, TokenRefused, UnreadableReply, UsageError
from cfbatch_gui.core.vectorize.client import IndexMissing
from cfbatch_gui.core.vectorize.push_values import (
    IdSource,
    MetadataColumn,
    PushOptions,
    PushOutcome,
    PushProgress,
    PushStage,
)
from tests.core.vectorize.conftest import OPTIONS, Bench, first, unit_vectors

THROUGH = ("cloudflare", "products")


async def test_many_vectors_go_in_three_parts_and_are_found_there(bench: Bench) -> None:
    bench.most_vectors = 500
    bench.add("one", unit_vectors(1_200, 32))
    await bench.index()
    push = await bench.opened().push("one", *THROUGH, OPTIONS, show=bench.show)
    assert [len(each.ids) for each in bench.events()] == [500, 500, 200]
    assert (push.outcome, push.sent, push.in_index, push.compared) == (PushOutcome.VERIFIED, 1_200, 1_200, 200)
    assert push.sentence == "1,200 of 1,200 are in products."
    assert [each.done for each in bench.shown if each.stage is PushStage.SENDING] == [0, 500, 1_000, 1_200]
    assert bench.vectorize.pushes("one") == (push,)


async def test_ids_namespaces_and_metadata_arrive_as_they_were_chosen(bench: Bench) -> None:
    kept = {"sku": ("a-1", "a-2"), "shop": ("north", ""), "price": ("12.5", "3"), "code": ("007", "8"), "no": ("", "x")}
    bench.add("one", unit_vectors(2, 32), kept=kept)
    await bench.index()
    columns = tuple(MetadataColumn(name, f"the_{name}") for name in ("price", "code", "no"))
    options = PushOptions(IdSource.COLUMN, "sku", "shop", columns)
    await bench.vectorize.push("one", *THROUGH, options)
    calls = bench.vectorize._calls("cloudflare")
    found = {each.id: each for each in await calls.get_by_ids("products", ["a-1", "a-2"])}
    assert found["a-1"].metadata == {"the_price": 12.5, "the_code": "007"}
    assert found["a-2"].metadata == {"the_price": 3, "the_code": "8", "the_no": "x"}
    assert (found["a-1"].namespace, found["a-2"].namespace) == ("north", None)


async def test_a_second_push_of_the_same_sends_nothing(bench: Bench) -> None:
    bench.add("one", unit_vectors(100, 32))
    await bench.index()
    await bench.vectorize.push("one", *THROUGH, OPTIONS)
    again = await bench.opened().push("one", *THROUGH, OPTIONS)
    assert (again.sent, again.acknowledged, again.outcome) == (0, 100, PushOutcome.VERIFIED)
    assert len(bench.events()) == 1


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
    assert (kept.sent, kept.in_index, kept.outcome) == (15, 110, PushOutcome.VERIFIED)
    removed = await bench.vectorize.push("new", *THROUGH, PushOptions(delete_removed=True))
    assert (removed.sent, removed.deleted, removed.in_index) == (0, 5, 105)
    assert [sorted(each.ids) for each in bench.events("delete")] == [names[:5]]
    assert removed.outcome is PushOutcome.VERIFIED


async def test_vectors_of_others_are_never_deleted(bench: Bench) -> None:
    bench.add("one", unit_vectors(3, 32))
    await bench.index()
    calls = bench.vectorize._calls("cloudflare")
    theirs = msgspec.json.encode({"id": "theirs", "values": unit_vectors(1, 32)[0].tolist()})
    await calls.upsert("products", [theirs + b"\n"])
    push = await bench.vectorize.push("one", *THROUGH, PushOptions(delete_removed=True))
    assert (push.deleted, push.in_index, push.outcome) == (0, 4, PushOutcome.VERIFIED)


async def test_a_push_that_is_cancelled_goes_on_with_what_is_missing(bench: Bench) -> None:
    bench.most_vectors = 100
    bench.add("one", unit_vectors(500, 32))
    vectorize = bench.opened()
    await bench.index()

    def cancel_after_two(progress: PushProgress) -> None:
        if progress.stage is PushStage.SENDING and progress.done == 200:
            task.cancel()

    task = asyncio.create_task(vectorize.push("one", *THROUGH, OPTIONS, show=cancel_after_two))
    with pytest.raises(asyncio.CancelledError):
        await task
    (paused,) = bench.vectorize.pushes("one")
    assert (paused.outcome, paused.acknowledged) == (PushOutcome.SENDING, 200)
    assert not vectorize.is_running(*THROUGH)
    push = await bench.opened().push("one", *THROUGH, OPTIONS, show=bench.show)
    assert (push.acknowledged, push.outcome) == (500, PushOutcome.VERIFIED)
    sent = [identifier for each in bench.events() for identifier in each.ids]
    assert len(set(sent)) == 500
    assert len(sent) <= 600  # at most the part that was under way goes twice


async def test_a_part_whose_acknowledgement_was_lost_is_sent_again_even_if_the_old_version_comes_back(
    bench: Bench,
) -> None:
    old, new = unit_vectors(10, 32), unit_vectors(10, 32, seed=2)
    bench.add("old", old)
    bench.add("new", new)
    await bench.index()
    await bench.vectorize.push("old", *THROUGH, OPTIONS)
    bench.after = first(6, "/upsert", (500, [{"code": 10001, "message": "x"}]))
    with pytest.raises(ServiceBusy):
        await bench.vectorize.push("new", *THROUGH, OPTIONS)
    push = await bench.opened().push("old", *THROUGH, OPTIONS)
    assert (push.sent, push.outcome) == (10, PushOutcome.VERIFIED)


async def test_busy_times_are_waited_for_and_said(bench: Bench) -> None:
    bench.add("one", unit_vectors(10, 32))
    await bench.index()
    bench.before = first(2, "/upsert", (429, [{"code": 0, "message": "x"}], {"retry-after": "7"}))
    push = await bench.vectorize.push("one", *THROUGH, OPTIONS, show=bench.show)
    assert push.outcome is PushOutcome.VERIFIED
    waiting = [each for each in bench.shown if each.waiting]
    assert waiting[0].waiting == "Cloudflare was asked too often, by this program or by others with the same account."
    assert waiting[0].waiting_seconds == 7.0


@pytest.mark.parametrize(
    ("answer", "error", "sentence"),
    [
        ((404, [{"code": 3000, "message": "vectorize.index.not_found"}]), IndexMissing, "There is no index “products”"),
        ((413, [{"code": 40001, "message": "x"}]), ServiceRefused, "Vectorize refused this as it is"),
        ((403, [{"code": 10000, "message": "Authentication error"}]), TokenRefused, "Vectorize Write"),
        ((500, [{"code": 10001, "message": "x"}]), ServiceBusy, "Cloudflare has a fault of its own just now."),
        ((200, {}), UnreadableReply, "did not say under which number"),
    ],
)
async def test_each_end_in_the_middle_has_its_sentence_and_loses_nothing(
    bench: Bench, answer: tuple[int, object], error: type[Exception], sentence: str
) -> None:
    bench.most_vectors = 10
    bench.add("one", unit_vectors(30, 32))
    vectorize = bench.opened()
    await bench.index()
    uploads = [0]

    def second(path: str, _body: bytes) -> tuple[int, object] | None:
        uploads[0] += path.endswith("/upsert")
        return answer if path.endswith("/upsert") and uploads[0] > 1 else None

    bench.before = second
    with pytest.raises(error, match=sentence) as raised:
        await vectorize.push("one", *THROUGH, OPTIONS)
    (stopped,) = bench.vectorize.pushes("one")
    assert (stopped.acknowledged, stopped.failure) == (10, str(raised.value))
    bench.before = lambda path, body: None
    push = await bench.opened().push("one", *THROUGH, OPTIONS)
    assert (push.sent, push.outcome, push.failure) == (20, PushOutcome.VERIFIED, "")


async def test_a_token_that_may_only_read_lists_and_does_not_push(bench: Bench) -> None:
    await bench.index()
    refused = (403, [{"code": 10000, "message": "Authentication error"}])
    bench.before = lambda path, body: refused if path.endswith("/upsert") else None
    bench.add("one", unit_vectors(3, 32))
    vectorize = bench.opened()
    assert [each.name for each in await vectorize.indexes("cloudflare")] == ["products"]
    with pytest.raises(TokenRefused, match="permission Vectorize Write"):
        await vectorize.push("one", *THROUGH, OPTIONS)
    bench.before = lambda path, body: refused
    with pytest.raises(TokenRefused, match="permission Vectorize Read"):
        await bench.opened().indexes("cloudflare")


async def test_an_index_that_lags_too_long_is_a_named_end_and_can_be_checked_later(bench: Bench) -> None:
    bench.seconds_mutating = 3_000.0
    bench.add("one", unit_vectors(10, 32))
    vectorize = bench.opened()
    await bench.index()
    push = await vectorize.push("one", *THROUGH, OPTIONS)
    assert push.outcome is PushOutcome.NOT_YET
    assert push.sentence == (
        "10 vectors were accepted, and products has not taken all of them in yet. Check again later."
    )
    bench.now += 3_000
    assert (await vectorize.verify("one", *THROUGH)).outcome is PushOutcome.VERIFIED
    assert len(bench.events()) == 1


async def test_values_that_differ_and_vectors_that_are_missing_are_found_and_sent_again(bench: Bench) -> None:
    bench.add("one", unit_vectors(10, 32))
    await bench.index()
    vector = np.zeros(32).tolist()
    bench.after = lambda path, body: (200, [{"id": "id-0", "values": vector}]) if path.endswith("get_by_ids") else None
    push = await bench.vectorize.push("one", *THROUGH, OPTIONS)
    assert (push.outcome, push.missing, push.different) == (PushOutcome.DIFFERENT, 9, 1)
    assert push.sentence.startswith("10 vectors were read back from products: 9 missing, 1 with other values.")
    bench.after = lambda path, body: None
    again = await bench.vectorize.push("one", *THROUGH, OPTIONS)
    assert (again.sent, again.outcome) == (10, PushOutcome.VERIFIED)


async def test_a_count_below_what_was_sent_is_found(bench: Bench) -> None:
    bench.add("one", unit_vectors(300, 32))
    await bench.index()
    await bench.vectorize.push("one", *THROUGH, OPTIONS)
    calls = bench.vectorize._calls("cloudflare")
    await calls.delete_by_ids("products", ["id-2"])  # not one of those that are read back
    found = await bench.vectorize.verify("one", *THROUGH)
    assert (found.outcome, found.in_index, found.expected) == (PushOutcome.DIFFERENT, 299, 300)
    assert found.sentence == "products counts 299 vectors, and 300 were sent. Push again to send everything anew."


async def test_changes_by_somebody_else_are_said(bench: Bench) -> None:
    bench.add("one", unit_vectors(3, 32))
    await bench.index()
    await bench.vectorize.push("one", *THROUGH, OPTIONS)
    calls = bench.vectorize._calls("cloudflare")
    await calls.upsert("products", [msgspec.json.encode({"id": "x", "values": [1.0] * 32}) + b"\n"])
    push = await bench.vectorize.push("one", *THROUGH, OPTIONS)
    assert push.notes[0].startswith("Something else has changed this index since the last push.")
    assert push.outcome is PushOutcome.VERIFIED
    everything = await bench.vectorize.push("one", *THROUGH, PushOptions(everything=True))
    assert everything.sent == 3


async def test_an_index_that_was_created_anew_gets_everything(bench: Bench) -> None:
    bench.add("one", unit_vectors(3, 32))
    await bench.index()
    await bench.vectorize.push("one", *THROUGH, OPTIONS)
    bench.now += 60
    index = f"accounts/{bench.connection.account_id}/vectorize/v2/indexes/products"
    await bench.vectorize._client("cloudflare").call_api(index, method="DELETE")
    await bench.index()
    push = await bench.vectorize.push("one", *THROUGH, OPTIONS)
    assert (push.sent, push.outcome) == (3, PushOutcome.VERIFIED)
    assert push.notes == ("The index was created anew since the last push, so everything is sent.",)


async def test_one_push_at_a_time_goes_into_an_index(bench: Bench) -> None:
    bench.add("one", unit_vectors(3, 32))
    await bench.index()
    seen: list[str] = []

    async def other() -> None:
        with pytest.raises(UsageError) as raised:
            await bench.vectorize.push("one", *THROUGH, OPTIONS)
        seen.append(str(raised.value))

    tasks: list[asyncio.Task[None]] = []

    def show(progress: PushProgress) -> None:
        if not tasks:
            tasks.append(asyncio.create_task(other()))

    await bench.vectorize.push("one", *THROUGH, OPTIONS, show=show)
    await tasks[0]
    assert seen == ["A push into products is under way. Wait until it is done."]


async def test_a_damaged_record_is_put_aside_and_everything_sent(bench: Bench) -> None:
    bench.add("one", unit_vectors(3, 32))
    await bench.index()
    await bench.vectorize.push("one", *THROUGH, OPTIONS)
    (path,) = (bench.root / "data" / "vectorize").glob("*.db")
    path.write_bytes(b"not a database at all" * 100)
    push = await bench.vectorize.push("one", *THROUGH, OPTIONS)
    assert (push.sent, push.outcome) == (3, PushOutcome.VERIFIED)
    assert push.notes[0].startswith("What this program knew about the vectors in products was damaged")
    assert path.with_name(path.name + ".damaged").exists()


async def test_vectors_of_texts_that_wait_for_new_ones_are_not_gone(bench: Bench) -> None:
    bench.add("old", unit_vectors(5, 32), ids=["a", "b", "late-0", "late-1", "gone"])
    bench.add("new", unit_vectors(2, 32), ids=["a", "b"], waiting=2)
    await bench.index()
    await bench.vectorize.push("old", *THROUGH, OPTIONS)
    push = await bench.vectorize.push("new", *THROUGH, PushOptions(delete_removed=True))
    assert (push.deleted, push.in_index, push.outcome) == (1, 4, PushOutcome.VERIFIED)
    assert [each.ids for each in bench.events("delete")] == [("gone",)]


async def test_a_file_of_pushes_that_is_damaged_or_newer_is_no_hindrance(bench: Bench) -> None:
    folder = bench.add("one", unit_vectors(3, 32))
    await bench.index()
    for content in (b"{", b'{"version": 2, "pushes": []}', b'{"version": 1, "pushes": [{}]}'):
        (folder.path / "vectorize.json").write_bytes(content)
        assert bench.vectorize.pushes("one") == ()
    assert (await bench.vectorize.push("one", *THROUGH, OPTIONS)).outcome is PushOutcome.VERIFIED
    assert bench.vectorize.pushes("one")[0].outcome is PushOutcome.VERIFIED


async def test_a_body_in_pieces_has_its_length_before_it(bench: Bench) -> None:
    bench.add("one", unit_vectors(100, 32))
    await bench.index()
    await bench.vectorize.push("one", *THROUGH, OPTIONS)
    (headers,) = (headers for path, headers in bench.headers if path.endswith("/upsert"))
    assert headers["content-length"] == str(bench.sizes[-1])
    assert "transfer-encoding" not in headers
    assert headers["content-type"].startswith("multipart/form-data; boundary=cfbatch-")


async def test_what_is_not_in_the_index_as_it_is_now_cannot_be_compared(bench: Bench) -> None:
    bench.add("old", unit_vectors(4, 32))
    bench.add("new", unit_vectors(3, 32, seed=2), ids=["id-0", "id-1", "x"])
    await bench.index()
    await bench.vectorize.push("old", *THROUGH, OPTIONS)
    await bench.vectorize.push("new", *THROUGH, OPTIONS)
    with pytest.raises(UsageError, match="2 vectors of this job are not in products as they are now"):
        await bench.vectorize.verify("old", *THROUGH)
    assert (await bench.vectorize.verify("new", *THROUGH)).outcome is PushOutcome.VERIFIED
    assert (await bench.vectorize.push("new", *THROUGH, OPTIONS)).sent == 0
