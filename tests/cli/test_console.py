import io
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.cli.console import Console, elided, padded, width_of
from cfbatch_gui.core.system.printing import escaped


@given(st.text(), st.integers(2, 60))
def test_an_elided_text_fits_and_is_one_printable_line(text: str, width: int) -> None:
    shown = elided(text, width)
    assert width_of(shown) <= width
    assert width_of(padded(text, width)) == width
    assert escaped(shown) == shown and "\n" not in shown


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("longer", 5, "long…"),
        ("two words", 5, "two…"),
        ("日本語", 5, "日本…"),
        ("e\u0301te\u0301", 3, "e\u0301te\u0301"),
        ("a\nb\tc", 10, "a b c"),
        ("\x1b[31mred\x07", 40, "\\u001b[31mred\\u0007"),
        ("\u202eevil", 10, "\\u202eevil"),
        ("می\u200cخواهم", 40, "می\u200cخواهم"),
    ],
)
def test_how_texts_are_elided(text: str, width: int, expected: str) -> None:
    assert elided(text, width) == expected


PRINTS_MUCH = """
from cfbatch_gui.cli.console import Console
from cfbatch_gui.core.errors import UserError
console = Console()
try:
    console.print_result(f"line {number}" for number in range(200_000))
except UserError as error:
    console.say_error(error)
    raise SystemExit(1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")
def test_a_reader_who_leaves_is_no_error() -> None:
    done = subprocess.run(
        ["sh", "-c", '{ "$0" -c "$1"; echo "status $?" >&2; } | head -n 1', sys.executable, PRINTS_MUCH],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("line 0\n", "status 0\n")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_full_disk_under_standard_output_is_said() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-c", PRINTS_MUCH], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith("cfbatch: The result could not be printed: ")


@pytest.mark.parametrize("is_windows", [True, False])
def test_on_windows_programs_are_given_utf8(is_windows: bool) -> None:
    pipe = io.BytesIO()
    out = io.TextIOWrapper(pipe, encoding="cp1252", newline="\n")
    Console(out, io.StringIO(), is_windows=is_windows).print_result(['{"name": "Größe “日本”"}'])
    written = '{"name": "Größe “日本”"}\n'.encode() if is_windows else '{"name": "Größe “??”"}\n'.encode("cp1252")
    assert pipe.getvalue() == written
