"""Queries kept as UTF-8 come back as they were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.results.score_table import QueryText, QueryTexts

_any_text = st.text(st.characters(), max_size=12)  # lone surrogates too


@given(st.lists(st.tuples(st.integers(1, 2**40), _any_text, _any_text), max_size=12), st.slices(12))
def test_each_query_comes_back(queries: list[tuple[int, str, str]], some: slice) -> None:
    texts, expected = QueryTexts(queries), tuple(QueryText(*query) for query in queries)
    assert len(texts) == len(expected) and tuple(texts) == expected
    assert texts[some] == expected[some]
    assert [texts[-number] for number in range(1, len(expected) + 1)] == list(reversed(expected))


def test_there_is_none_beyond_the_last() -> None:
    with pytest.raises(IndexError):
        QueryTexts([(1, "", "a")])[1]
