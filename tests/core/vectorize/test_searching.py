"""A search: what the index finds, beside the exact neighbours in the job."""

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.practice.local_models import HashedNgrams
from tests.core.vectorize.conftest import OPTIONS, THROUGH, Bench, unit_vectors
from tests.support.sentences import refuses

TEXTS = [f"text {number}" for number in range(200)]


async def pushed(bench: Bench) -> None:
    bench.add("one", HashedNgrams().embed(TEXTS))
    await bench.index(dimensions=1_024)
    await bench.vectorize.push("one", *THROUGH, OPTIONS)


async def test_an_exact_index_finds_all_of_the_nearest(bench: Bench) -> None:
    await pushed(bench)
    found = await bench.vectorize.search("one", *THROUGH, "text 17")
    assert (found.hits[0].text, found.hits[0].id, found.exact[0].text) == ("text 17", "id-17", "text 17")
    assert len(found.hits) == len(found.exact) == 10
    assert found.shared == 10


async def test_what_the_index_misses_is_counted(bench: Bench) -> None:
    await pushed(bench)
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
