"""Text that is split into records without the csv module gives the rows that the csv module gives."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, RowHabits, Source
from cfbatch_gui.core.inputs.readers import decoded_text, delimited_rows, raw_records
from cfbatch_gui.core.inputs.readers.raw_records import SoundRecords, is_split_faster, sound_records
from tests.thorough import tries

SOUND = [
    *("", "a", "one two", " ", "é 🌍", '""', '"x"', '"a, b"', '"say ""hi"""', '""""', '"one\ntwo"', '"one\r\ntwo"'),
    *('"\n"', '" x "', '"a\n\n1, b"', '"\u2028\x85"'),
]
UNSOUND = ['5" long', '"a" b', 'a"b"', '"open', ' "x"', '"x" ', "a\rb", "\x01", "\x02", "\0"]
_sound_rows = st.lists(st.lists(st.sampled_from(SOUND), min_size=1, max_size=3).map(",".join), min_size=1, max_size=12)
_even_rows = st.lists(st.tuples(*[st.sampled_from(SOUND)] * 2).map(",".join), min_size=1, max_size=12)
_any_rows = st.lists(
    st.lists(st.sampled_from([*SOUND, *SOUND, *UNSOUND]), min_size=1, max_size=3).map(",".join), min_size=1, max_size=12
)
_ends = st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n"])


def by_csv(text: str) -> list[tuple[str, ...]]:
    return list(map(tuple, csv.reader(io.StringIO(text, newline=""))))


@given(st.one_of(_sound_rows, _even_rows, _any_rows), _ends, st.booleans())
@settings(max_examples=tries(300, 20_000), suppress_health_check=list(HealthCheck))
def test_records_are_those_of_the_csv_module(rows: list[str], end: str, is_ended: bool) -> None:
    text = end.join(rows) + (end if is_ended else "")
    found = sound_records(text, ",")
    if found is not None:
        records, rest = found.records, found.rest
        assert text.endswith(rest)
        whole = text[: len(text) - len(rest)]
        assert records == by_csv(whole)
        assert found.is_one_a_line == (len(records) == len(list(io.StringIO(whole, newline=""))))
        assert '"' in rest or not rest
        assert by_csv(text)[: len(records)] == records


@given(st.one_of(_sound_rows, _even_rows), st.sampled_from(["\n", "\r\n"]))
@settings(suppress_health_check=list(HealthCheck))
def test_sound_records_are_taken_whole(rows: list[str], end: str) -> None:
    text = end.join(rows) + end
    found = sound_records(text, ",")
    assert found is not None
    assert (found.records, found.rest) == (by_csv(text), "")


@pytest.mark.parametrize("cell", UNSOUND)
def test_what_is_not_sound_is_refused_or_left_over(cell: str) -> None:
    unsound = f'2,{cell},"x"\n3,"three"\n'
    found = sound_records(f'1,"one"\n{unsound}', ",")
    assert found is None or (found.records, found.rest) == ([("1", "one")], unsound)
    assert sound_records(unsound, ",") is None


def test_a_record_that_is_not_ended_is_the_rest() -> None:
    found = sound_records('1,"one\ntwo"\n2,a,"b ""c""","d\n3,e\n', ",")
    assert found == SoundRecords([("1", "one\ntwo")], '2,a,"b ""c""","d\n3,e\n', False)
    assert sound_records('1,"one\n2,two\n', ",") is None


def test_short_cells_are_left_to_the_csv_module() -> None:
    assert not is_split_faster("1,2,3,4\n" * 1_000, ",")
    assert is_split_faster(f'1,"{"a, " * 40}"\n' * 1_000, ",")


@given(
    st.lists(_any_rows, min_size=1, max_size=3).map(lambda parts: [row for part in parts for row in part]),
    _ends,
    st.integers(8, 200),
    st.booleans(),
    st.sampled_from([(), (2,), (1, 2), (2, 3)]),
)
@settings(max_examples=tries(150, 10_000), suppress_health_check=list(HealthCheck))
def test_a_file_has_the_same_rows_without_it(
    tmp_path: Path, rows: list[str], end: str, piece: int, has_line_breaks: bool, widths: tuple[int, ...]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(end.join(["id,text", *rows]), encoding="utf-8", newline="")
    habits = RowHabits(widths, has_line_breaks)
    source = Source(path, FileFormat.DELIMITED, ("id", "text"), 0, "utf-8", ",", has_header=True, habits=habits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited_rows, "is_split_faster", lambda text, separator: False)
        expected = list(read_rows(source))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited_rows, "is_split_faster", lambda text, separator: True)
        patch.setattr(raw_records, "_SHORT", 30)
        patch.setattr(decoded_text, "PIECE", piece)
        assert list(read_rows(source)) == expected
