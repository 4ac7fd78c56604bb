"""Parquet is decoded in another process, so that a crash of the decoder does not end the program."""

import base64
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

core = pytest.importorskip("arro3.core")
arro = pytest.importorskip("arro3.io")

# Eight texts in a file with one wrong byte in a data page, on which arro3-io 0.9.1 aborts its process (SIGABRT).
ENDS_ITS_READER = base64.b85decode(
    b"P(e~L6$BL&6%<Sr1Qh@h00031003bD0001D6#x|y6%s5J5ET#=1{DSX00IC20RI621F9Jk0vQ+qVHp?!Vif`z762(G01yBf92PhgG!_5=85R%#"
    b"6#^M7NDN_ea&LEEb7N>_ZDADx02K@+0vH5zWq5QY08AVJ000&c85|iLCIB223>h^51`rt-1axJ1bQJ&=5Ef(>WF|N!2pl#5C;?&^0bvml02wS502L4w"
    b"0ss{R6#x|i06Z2DDJB3A000)20Tmh+Y!xa17GxF>CI}W}6aWAy8E|28adl;MEpl@pc4cyNX>V>IH90OYE-)D!8~^|SqyPW_P(e~L"
)


def test_a_page_that_ends_its_reader_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(ENDS_ITS_READER)
    with pytest.raises(InputError, match=r"a\.parquet is damaged or incomplete\. Write it again") as caught:
        list(read_rows(open_source(path)))
    assert "panicked" in caught.value.detail


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts processes as Linux shows them")
def test_whoever_stops_early_leaves_no_process(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = core.Array([f"text {n}" for n in range(50_000)], core.DataType.utf8())
    arro.write_parquet(core.Table.from_pydict({"text": texts}), str(path))
    before = children()
    with closing(read_rows(open_source(path))) as rows:
        assert next(rows).cells == ("text 0",)
        assert len(children()) == len(before) + 1
    assert children() == before


def children() -> list[str]:
    tasks = Path("/proc/self/task").iterdir()
    return sorted(child for task in tasks for child in (task / "children").read_text().split())
