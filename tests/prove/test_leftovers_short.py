"""Answers that are mixed up on connections: a few hundred, and each broken variant of the client; the rest is proof."""

import pytest

from tests.prove import leftovers
from tests.thorough import tries

pytestmark = pytest.mark.thorough


def test_no_answer_reaches_the_texts_of_another() -> None:
    assert leftovers.run(tries(600, 100_000), seed=1, workers=2) == []


@pytest.mark.parametrize("broken", leftovers.BROKEN, ids=lambda broken: broken.name)
def test_each_broken_client_is_caught(broken: leftovers.Broken) -> None:
    assert leftovers.catch(broken, seed=2, answers=tries(600, 4_000))
