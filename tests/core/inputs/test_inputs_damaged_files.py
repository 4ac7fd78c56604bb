"""Damaged files of every kind: rows, rows with a problem, or a sentence; never a crash."""

import gzip
import io
import json
import random
import zipfile
from pathlib import Path

import openpyxl
import pytest

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.items import read_items
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from tests.core.inputs.independent import outcome

CSV = "query;text;label\n" + "".join(
    f'Frage {n % 3};"Antwort ""{n}""; mit, Zeichen\nund Zeile";{n % 2}\n' for n in range(20)
)
OBJECTS = [{"query": f"q{n % 3}", "contexts": [{"text": f"ü {n}"}], "external_reference": str(n)} for n in range(12)]
DOCUMENT = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    + "<w:p><w:r><w:t>Paragraph</w:t></w:r></w:p>" * 20
    + "</w:body></w:document>"
)


def whole_workbook() -> bytes:
    book = openpyxl.Workbook()
    for row in [("id", "text"), *[(f"00{n}", f"text {n}") for n in range(20)]]:
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def zipped(name: str, data: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return stream.getvalue()


WHOLE = {
    "a.csv": CSV.encode(),
    "b.csv": CSV.encode("utf-16"),
    "c.tsv": CSV.replace(";", "\t").encode("cp1252"),
    "d.json": json.dumps({"requests": OBJECTS}, indent=1).encode(),
    "e.jsonl": "".join(json.dumps(each) + "\n" for each in OBJECTS).encode(),
    "f.json": json.dumps(OBJECTS, ensure_ascii=False).encode(),
    "g.csv.gz": gzip.compress(CSV.encode(), mtime=0),
    "h.zip": zipped("a.csv", CSV),
    "i.docx": zipped("word/document.xml", DOCUMENT),
    "j.xlsx": whole_workbook(),
    "k.txt": CSV.encode(),
    "l.ods": zipped("content.xml", "<office:document-content/>"),
}
WAYS = ("cut", "flip", "zero", "repeat", "insert")


def damaged(data: bytes, way: str, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    until = min(len(data), at + chance.randrange(1, 40))
    match way:
        case "cut":
            return data[:at]
        case "flip":
            return data[:at] + bytes(byte ^ (1 << chance.randrange(8)) for byte in data[at:until]) + data[until:]
        case "zero":
            return data[:at] + bytes(until - at) + data[until:]
        case "repeat":
            return data[:until] + data[at:]
        case _:
            noise = chance.choice(['"', "'", "\\", "\r", "\n\n", "\0", "\ufeff", "{", "]", "\ud800", "sep=;\n"])
            return data[:at] + noise.encode("utf-8", "surrogatepass") + data[at:]


@pytest.mark.parametrize("name", list(WHOLE))
@pytest.mark.parametrize("way", WAYS)
def test_damage_is_rows_problems_or_a_sentence(tmp_path: Path, name: str, way: str) -> None:
    chance = random.Random(f"{name} {way}")
    for number in range(5):  # 300 files in all
        path = tmp_path / f"{number}-{name}"
        path.write_bytes(damaged(WHOLE[name], way, chance))
        try:
            source = open_source(path)
            mapping = suggest_mapping(source, None, preview(source))
            if not check_mapping(mapping, source):
                for item in read_items(source, mapping):
                    assert item is not None
            outcome(path)
        except UserError as error:
            assert error.message.endswith((".", "!", "?", "}."))
