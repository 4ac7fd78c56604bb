"""What Vectorize would refuse is found before a byte leaves, with its rows and the way out."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.job_folder.folder import forget_texts
from cfbatch_gui.core.vectorize.push_values import IdSource, MetadataColumn, PushOptions
from cfbatch_gui.core.vectorize.record import IndexRecord
from cfbatch_gui.core.vectorize.rows import is_plain_number
from cfbatch_gui.core.vectorize.vectorize import Vectorize
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from tests.core.vectorize.conftest import OPTIONS, Bench, unit_vectors

THROUGH = ("cloudflare", "products")


async def problems(bench: Bench, options: PushOptions = OPTIONS) -> list[tuple[str, int, tuple[int, ...]]]:
    """The problems of a job; a push is refused with the first of them, and nothing leaves."""
    check = await bench.vectorize.check("one", *THROUGH, options)
    await bench.index()
    with pytest.raises(UsageError) as raised:
        await bench.vectorize.push("one", *THROUGH, options)
    assert str(raised.value).startswith(check.problems[0].sentence)
    assert not [path for path in bench.called if path.endswith(("/upsert", "/delete_by_ids"))]
    return [(each.sentence, each.count, each.rows) for each in check.problems]


async def test_ids_that_are_empty_repeated_or_too_long(bench: Bench) -> None:
    bench.add("one", unit_vectors(6, 32), ids=["a", "", "a", "é" * 33, "é" * 32, "b"])
    empty, repeated, long = await problems(bench)
    assert empty == ("1 row has no id. Choose another column for the ids, or the row numbers.", 1, (3,))
    assert repeated[1:] == (1, (4,))
    assert long == (
        "1 row has an id of more than 64 bytes, the most that Vectorize takes. Choose another column for the ids, or "
        "the row numbers.",
        1,
        (5,),
    )


async def test_row_numbers_are_a_way_out(bench: Bench) -> None:
    bench.add("one", unit_vectors(3, 32), ids=["a", "", "a"])
    check = await bench.vectorize.check("one", *THROUGH, PushOptions(IdSource.ROWS))
    assert (check.problems, check.new) == ((), 3)


async def test_metadata_and_namespaces_that_are_too_large(bench: Bench) -> None:
    kept = {"long": ("x" * 10_240, "y"), "shop": ("ä" * 33, "z")}
    bench.add("one", unit_vectors(2, 32), kept=kept)
    options = PushOptions(namespace="shop", metadata=(MetadataColumn("long", "long"),))
    namespace, metadata = await problems(bench, options)
    assert "namespace of more than 64 bytes" in namespace[0]
    assert "more metadata than the 10,240 bytes" in metadata[0]
    assert namespace[1:] == metadata[1:] == (1, (2,))


@pytest.mark.parametrize("key", ["", "a.b", '"a"', "$a"])
async def test_keys_that_vectorize_refuses_get_a_usual_one(bench: Bench, key: str) -> None:
    bench.add("one", unit_vectors(1, 32), kept={"$a.b": ("x",)})
    ((sentence, _, _),) = await problems(bench, PushOptions(metadata=(MetadataColumn("$a.b", key),)))
    assert sentence.endswith("Send the column as “a_b”.")


async def test_two_columns_under_one_key(bench: Bench) -> None:
    bench.add("one", unit_vectors(1, 32), kept={"a": ("x",), "b": ("y",)})
    twice = (MetadataColumn("a", "k"), MetadataColumn("b", "k"))
    ((sentence, _, _),) = await problems(bench, PushOptions(metadata=twice))
    assert sentence == "Two columns are sent under the name “k”. Give one of them another name."


async def test_vectors_of_another_length_than_the_index(bench: Bench) -> None:
    bench.add("one", unit_vectors(2, 48))
    await bench.index()
    index = (await bench.vectorize.state("cloudflare", "products")).index
    check = await bench.vectorize.check("one", *THROUGH, OPTIONS, index=index)
    assert check.problems[0].sentence == (
        "products takes vectors of 32 numbers, and these have 48. Choose another index, or create one."
    )


async def test_vectors_that_are_too_long_for_any_index(bench: Bench) -> None:
    bench.add("one", unit_vectors(1, 1_537))
    ((sentence, _, _),) = [*await problems_without_index(bench)]
    assert sentence == "Vectorize takes vectors of at most 1,536 numbers, and these have 1,537."
    with pytest.raises(UsageError, match="of 32 to 1,536 numbers, and these have 1,537"):
        await bench.index(dimensions=1_537)


async def problems_without_index(bench: Bench) -> list[tuple[str, int, tuple[int, ...]]]:
    check = await bench.vectorize.check("one", *THROUGH, OPTIONS)
    return [(each.sentence, each.count, each.rows) for each in check.problems]


async def test_a_job_without_vectors(bench: Bench) -> None:
    bench.add("one", np.empty((0, 32), np.float32))
    assert (await problems_without_index(bench))[0][0] == "This job has no vectors yet."


@pytest.mark.parametrize("name", ["", "..", "a/b", "x" * 65, "?"])
async def test_names_that_no_index_has_never_become_an_address(bench: Bench, name: str) -> None:
    with pytest.raises(UsageError, match="is not the name of an index"):
        await bench.vectorize.state("cloudflare", name)
    bench.add("one", unit_vectors(1, 32))
    with pytest.raises(UsageError, match="is not the name of an index"):
        await bench.vectorize.check("one", "cloudflare", name, OPTIONS)
    assert not bench.called
    assert not (bench.root / "data" / "vectorize").exists()


async def test_a_worker_leads_to_no_index(bench: Bench, a_worker: Connection) -> None:
    bench.connection = a_worker
    vectorize: Vectorize = bench.opened()
    with pytest.raises(UsageError, match="My Worker is a Worker, which only passes batches on"):
        await vectorize.indexes("w")


async def test_columns_of_texts_that_were_removed_cannot_be_sent(bench: Bench) -> None:
    folder = bench.add("one", unit_vectors(2, 32), kept={"shop": ("x", "y")})
    forget_texts(folder, 0.0)
    with pytest.raises(UsageError, match="The texts of this job were removed"):
        await bench.vectorize.check("one", *THROUGH, PushOptions(namespace="shop"))
    assert (await bench.vectorize.check("one", *THROUGH, OPTIONS)).new == 2


def test_plain_numbers_and_what_is_sent_as_a_text() -> None:
    assert all(map(is_plain_number, ("0", "-1", "12.50", "123456789012345", "0.5")))
    texts = ("", "007", "+1", " 1", "1e5", "1,5", ".5", "1.", "1234567890123456", "٣", "-")
    assert not any(map(is_plain_number, texts))


def test_a_record_whose_making_was_cut_off_is_no_damaged_one(bench: Bench) -> None:
    path = bench.root / "r.db"
    IndexRecord(path, "products", "mark").close()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA user_version = 0")
        database.execute("DELETE FROM facts WHERE name NOT IN (SELECT name FROM facts LIMIT 1)")
    record = IndexRecord(path, "products", "mark")
    assert (record.damage, record.count) == ("", 0)
    record.close()
