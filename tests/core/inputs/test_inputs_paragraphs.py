"""Plain text is read by paragraph when sentences continue from line to line, and by line when they do not."""

import textwrap
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, ReadOptions
from cfbatch_gui.core.inputs.readers.formats import explain
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

ENGLISH = (
    "Solar panels turn light into electricity. They work best in full sun and need little care over the twenty years "
    "that most of them last.",
    "Wind turbines need a steady wind. They are often built at sea, where nothing is in its way, and where nobody has "
    "to listen to them.",
    "Water has driven mills for two thousand years, and drives turbines today.",
)
GERMAN = (
    "Die Lampe besteht aus geölter Eiche und gibt ein warmes Licht. Das Kabel ist zwei Meter lang, der Schalter sitzt "
    "am Fuß der Lampe und nicht am Kabel.",
    "Der Stuhl hat eine Lehne aus Buche und einen Sitz aus Leder. Er trägt hundert Kilogramm und wiegt selbst fünf.",
)
JAPANESE = (
    "このランプはオーク材でできており、暖かい光を出します。コードの長さは二メートルで、スイッチは台座にあります。",
    "この椅子はブナ材でできており、座面は革です。百キログラムまで耐えられ、重さはわずか五キログラムです。",
)


def wrapped(paragraphs: tuple[str, ...], width: int, between: str = "\n\n") -> str:
    return between.join(textwrap.fill(paragraph, width) for paragraph in paragraphs) + "\n"


@pytest.mark.parametrize("width", [40, 76])
@pytest.mark.parametrize("paragraphs", [ENGLISH, GERMAN])
def test_paragraphs_of_several_lines(tmp_path: Path, paragraphs: tuple[str, ...], width: int) -> None:
    path = tmp_path / "texts.txt"
    path.write_text(wrapped(paragraphs, width), encoding="utf-8")
    source = open_source(path)
    assert source.format == FileFormat.PARAGRAPHS
    assert [row.cells[0].replace("\n", " ") for row in read_rows(source)] == list(paragraphs)
    assert explain(source) == "Plain text, one text per paragraph, with blank lines between them, in UTF-8."
    assert open_source(path, ReadOptions(unit=FileFormat.LINES)).format == FileFormat.LINES


def test_paragraphs_without_spaces_between_words(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text(
        "\n\n".join("\n".join(each[at : at + 20] for at in range(0, len(each), 20)) for each in JAPANESE), "utf-8"
    )
    assert [row.cells[0].replace("\n", "") for row in read_rows(open_source(path))] == list(JAPANESE)


@pytest.mark.parametrize(
    "text", [wrapped(ENGLISH, 50, "\n\n\n").replace("\n", "\r\n"), "Energy\n\n" + wrapped(ENGLISH, 60)]
)
def test_paragraphs_as_people_and_editors_leave_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "texts.md"
    path.write_bytes(text.encode())
    assert open_source(path).format == FileFormat.PARAGRAPHS


LISTS = {
    "words, in groups": "apple\npear\nplum\n\ncarrot\nonion\n\nbread\nroll\n",
    "questions, in groups": "where is my order?\nhow do I pay?\n\ncan I send it back?\nwho pays for that?\n",
    "sentences, with a blank line here and there": "".join(
        f"This is the sentence with the number {n}.\n" + ("\n" if n % 17 == 5 else "") for n in range(200)
    ),
    "codes of one width": "AB-1234 red\nAB-1235 red\n\nAB-2234 red\nAB-2235 red.\n",
    "one long line each": "\n\n".join(ENGLISH) + "\n",
    "one long line each, and two together": f"{ENGLISH[0]}\n{ENGLISH[1]}\n\n{ENGLISH[2]}\n\n{ENGLISH[0]}\n",
    "one paragraph": wrapped(ENGLISH[:1], 40),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_stays_a_text_a_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "texts.txt"
    path.write_text(LISTS[name], encoding="utf-8")
    source = open_source(path)
    assert source.format == FileFormat.LINES
    texts = [(number, line) for number, line in enumerate(LISTS[name].split("\n"), 1) if line]  # no blank lines
    assert [(row.number, *row.cells) for row in read_rows(source)] == texts
