from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cfbatch_gui.core.messages import message, quoted, stored
from cfbatch_gui.core.program import Program
from tests.core.results.folders import FAILED, LEFT_OUT, NASTY, WAITING, Pair, Table, unit_vectors


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """An empty job folder with one column of the user's own, whose name is also one of ours."""
    return Table(tmp_path / "job", kept=("rank",))


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    opened = await Program.open(tmp_path / "data", environ={}, practice_times=(0.0, 0.0))
    yield opened
    await opened.close()


NO_TEXT = message("there_is_no_text_column", column=quoted("article"))


@pytest.fixture
def mixed(table: Table) -> Table:
    """Two queries with ties, contexts without a score for every possible reason, and a row that was never sent."""
    return table.rank(
        [
            Pair("how do I reset", "first", 0.25, id="007", label="1", kept=("x",)),
            Pair("how do I reset", "second", 0.5, id="B", label="0", kept=("=1+1",)),
            Pair("パスワードを忘れた", "メール", 0.125, id="C", kept=("",)),
            Pair("how do I reset", "third\nline", 0.25, id="D", kept=("-3",)),
            Pair("how do I reset", "fourth", FAILED, id="E", kept=("e",)),
            Pair("how do I reset", "fifth", LEFT_OUT, id="F", kept=("f",)),
            Pair("how do I reset", "sixth", WAITING, id="G", kept=("g",)),
            Pair("how do I reset", "seventh", 0.125, id="H", kept=("h",)),
        ],
        skipped=[(Pair("lonely", "", "", id="I", kept=("i",)), stored(NO_TEXT))],
    )


@pytest.fixture
def embedded(tmp_path: Path) -> Table:
    """Every nasty text with a vector of 16 numbers, but for two; with columns whose names are also ours."""
    missing = {1: FAILED, 2: WAITING}
    texts = [(f"id {index} 東", text, missing.get(index, 1.0)) for index, text in enumerate(NASTY)]
    table = Table(tmp_path / "job", kept=("dim_3", "id"))
    return table.embed(texts, unit_vectors(len(NASTY), 16), kept=[(text, "mine") for text in NASTY])
