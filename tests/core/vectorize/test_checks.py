"""What Vectorize would refuse is found before a byte leaves, with its rows and the way out."""

from typing import Any

import numpy as np
import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.job_folder.folder import forget_texts
from cfbatch_gui.core.vectorize.planning import is_plain_number
from cfbatch_gui.core.vectorize.push_values import MetadataColumn, PushOptions
from tests.core.vectorize.conftest import OPTIONS, THROUGH, Bench, unit_vectors
from tests.support.clients import worker
from tests.support.sentences import code_of, refuses


def sent_as(*columns: tuple[str, str], namespace: str = "") -> PushOptions:
    return PushOptions(namespace=namespace, metadata=tuple(MetadataColumn(*each) for each in columns))


NO_KEY = "vectorize_takes_no_key_name_metadata"
LARGE = {"long": ("x" * 10_240, "y"), "shop": ("ä" * 33, "z")}


@pytest.mark.parametrize(
    ("vectors", "job", "options", "problems"),
    [
        (
            unit_vectors(6, 32),
            {"ids": ["a", "", "a", "é" * 33, "é" * 32, "b"]},
            OPTIONS,
            [
                ("rows_without_id_n_choose_another", 1, (3,)),
                ("rows_id_earlier_row_n_choose", 1, (4,)),
                ("rows_id_more_than_most_bytes", 1, (5,)),
            ],
        ),
        (
            unit_vectors(2, 32),
            {"kept": LARGE},
            sent_as(("long", "long"), namespace="shop"),
            [("rows_namespace_more_than_most_bytes", 1, (2,)), ("rows_more_than_most_bytes_metadata", 1, (2,))],
        ),
        *(
            (unit_vectors(1, 32), {"kept": {"$a.b": ("x",)}}, sent_as(("$a.b", key)), [(NO_KEY, 0, ())])
            for key in ("", "a.b", '"a"', "$a")
        ),
        (
            unit_vectors(1, 32),
            {"kept": {"a": ("x",), "b": ("y",)}},
            sent_as(("a", "k"), ("b", "k")),
            [("two_columns_are_sent_under_name", 0, ())],
        ),
        (unit_vectors(1, 1_537), {}, OPTIONS, [("vectorize_takes_vectors_most_most_numbers", 0, ())]),
        (np.empty((0, 32), np.float32), {}, OPTIONS, [("job_no_vectors_yet", 0, ())]),
        (unit_vectors(2, 48), {}, OPTIONS, [("index_takes_vectors_wanted_numbers_these", 0, ())]),
    ],
)
async def test_what_would_be_refused_is_found_with_its_rows_and_nothing_leaves(
    bench: Bench,
    vectors: Any,
    job: dict[str, Any],
    options: PushOptions,
    problems: list[tuple[str, int, tuple[int, ...]]],
) -> None:
    bench.add("one", vectors, **job)
    await bench.index()
    index = await bench.calls.get("products")
    check = await bench.vectorize.check("one", *THROUGH, options, index=index if vectors.shape[1] < 1_537 else None)
    assert [(code_of(each.sentence), each.count, each.rows) for each in check.problems] == problems
    with pytest.raises(UsageError) as raised:
        await bench.vectorize.push("one", *THROUGH, options)
    assert str(raised.value) == check.problems[0].sentence
    assert not [path for path in bench.called if path.endswith(("/upsert", "/delete_by_ids"))]


@pytest.mark.parametrize("name", ["", "..", "a/b", "x" * 65, "?"])
async def test_names_that_no_index_has_never_become_an_address(bench: Bench, name: str) -> None:
    bench.add("one", unit_vectors(1, 32))
    for call in (bench.calls.get(name), bench.vectorize.check("one", "cloudflare", name, OPTIONS)):
        with refuses(UsageError, "name_is_not_name_index_letters"):
            await call
    assert not bench.called and not (bench.root / "data" / "vectorize").exists()


async def test_a_worker_leads_to_no_index(bench: Bench) -> None:
    bench.connection = worker("https://batch.example.workers.dev", title="My Worker")
    with refuses(UsageError, "title_is_worker_only_passes_batches"):
        bench.opened().calls("w")


async def test_columns_of_texts_that_were_removed_cannot_be_sent(bench: Bench) -> None:
    folder = bench.add("one", unit_vectors(2, 32), kept={"shop": ("x", "y")})
    forget_texts(folder, 0.0)
    with refuses(UsageError, "texts_job_were_removed_cannot_be"):
        await bench.vectorize.check("one", *THROUGH, PushOptions(namespace="shop"))
    assert (await bench.vectorize.check("one", *THROUGH, OPTIONS)).new == 2


def test_plain_numbers_and_what_is_sent_as_a_text() -> None:
    assert all(map(is_plain_number, ("0", "-1", "12.50", "123456789012345", "0.5")))
    texts = ("", "007", "+1", " 1", "1e5", "1,5", ".5", "1.", "1234567890123456", "٣", "-")
    assert not any(map(is_plain_number, texts))
