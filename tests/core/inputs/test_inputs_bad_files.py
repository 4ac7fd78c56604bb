"""Unusable files: one sentence that names the file and says what to do, and no other exception."""

import gzip
import io
import os
import socket
import sys
import tarfile
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import Action, InputError, UsageError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, ReadOptions
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from tests.core.inputs.files import opened, zipped

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the beginning of a compound file


def archive(*names: str) -> bytes:
    return zipped(*((name, b"x") for name in names))


def tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as file:
        file.addfile(tarfile.TarInfo("a.csv"), io.BytesIO())
    return buffer.getvalue()


BAD_FILES = [
    # name, bytes, a part of the sentence
    ("a.csv", b"", "a.csv is empty. Choose a file with at least one row."),
    ("a.csv", b"\n\r\n\n", "a.csv is empty."),
    ("a.csv", b"id,text\n", "a.csv has a header but no rows below it."),
    ("a.csv", b'"id,text\n1,2\n', "a.csv cannot be read as a table. A quotation mark opens in row 1"),
    ("a.pdf", b"%PDF-1.7\n%\xe2\xe3", "a.pdf is a PDF document. Copy its text"),
    ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a.png is a picture, a program or other data."),
    ("a.csv.gz", gzip.compress(b"id,text\n1,a\n", mtime=0)[:-6], "a.csv.gz is damaged or protected by a password."),
    ("a.csv.gz", gzip.compress(b"", mtime=0), "a.csv.gz is empty."),
    (
        "a.csv.gz",
        gzip.compress(gzip.compress(b"id,text\n1,a\n", mtime=0), mtime=0),
        "a.csv.gz holds a workbook, a document or a packed file. Unpack it",
    ),
    ("a.tar", tar(), "a.tar is a tar archive. Unpack it first"),
    ("a.bz2", b"BZh91AY&SY\xf1\0\0", "a.bz2 is compressed (bzip2)."),
    ("a.parquet", b"PAR1\x15\x04\x15\0", "a.parquet is damaged or incomplete."),
    ("a.rtf", b"{\\rtf1\\ansi Hello}", "a.rtf is a formatted document (RTF)."),
    ("a.xls", OLE + bytes(64), "a.xls is damaged or incomplete."),
    ("a.doc", OLE + bytes(64), "a.doc is a document in an old Office format."),
    ("a.xls", b"<html><table><tr><td>1</td></tr></table></html>", "a.xls is a web page, whatever its name says."),
    ("a.xls", b"\n<div>\n\t<table><tr><td>1</td></tr></table></div>", "a.xls is a web page"),
    ("a.csv", b"MIME-Version: 1.0\nContent-Type: multipart/related\n\n--x\n", "a.csv is a web page"),
    ("a.slk", b'ID;PWXL;N;E\r\nP;PGeneral\r\nC;Y1;X1;K"id"\r\nE\r\n', "a.slk is a table in an old form (SYLK)."),
    ("a.csv", b'TABLE\r\n0,1\r\n"EXCEL"\r\nVECTORS\r\n', "a.csv is a table in an old form (DIF)."),
    ("a.ris", b"TY  - JOUR\nTI  - A title\nER  - \n", "a.ris is a list of references."),
    ("a.txt", b"\nPMID- 123\nTI  - A title\n", "a.txt is a list of references."),
    ("a.bib", b"@article{key1,\n  title = {A title}\n}\n", "a.bib is a list of references."),
    ("a.xml", b'<?xml version="1.0"?><Workbook/>', "a.xml is an XML file."),
    ("a.zip", archive("readme.txt", "data.csv"), "a.zip holds 2 files. Unpack it"),
    ("a.zip", archive(), "a.zip is an empty zip archive."),
    ("a.docx", archive("word/document.xml"), "a.docx is damaged or incomplete."),
    ("a.ods", archive("mimetype", "content.xml"), "a.ods is damaged or incomplete."),
    ("a.numbers", archive("Index/Document.iwa"), "a.numbers is an Apple Numbers file."),
    ("a.xlsx", archive("xl/workbook.xml"), "a.xlsx is damaged or incomplete."),
    ("a.xlsx", b"PK\x03\x04 and nothing more", "a.xlsx is damaged or incomplete."),
    ("a.csv", bytes(range(256)) * 8, "a.csv is not a text file or a spreadsheet."),
    ("a.txt", bytes(5000), "a.txt is not a text file or a spreadsheet."),
    ("a.jsonl", b"[]\n[]\n", "a.jsonl holds no JSON objects."),
    ("a.json", b"[1, 2]", "a.json holds no JSON objects."),
    ("a.json", b'[\n  {"text": \n', "a.json is not valid JSON: character 15 is wrong. Correct it"),
]


@pytest.mark.parametrize(("name", "data", "sentence"), BAD_FILES, ids=range(len(BAD_FILES)))
def test_a_bad_file_gets_a_sentence(tmp_path: Path, name: str, data: bytes, sentence: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError) as raised:
        list(read_rows(open_source(path)))
    assert sentence in raised.value.message
    assert raised.value.message.endswith((".", "}."))
    assert raised.value.action is Action.CHOOSE_FILE
    assert str(tmp_path) not in raised.value.message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no file a\.csv\."):
        open_source(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"cannot be read from its disk"):
        open_source(tmp_path / "a\0.csv")
    with pytest.raises(InputError, match=r"cannot be read from its disk"):
        open_source(tmp_path / ("x" * 300))


def test_a_file_that_went_away_after_it_was_recognised(tmp_path: Path) -> None:
    for name, data in (("a.csv", b"id,text\n1,a\n"), ("a.txt", b"a\n"), ("a.jsonl", b'{"text":"a"}\n')):
        source = opened(tmp_path / name, data)
        source.path.unlink()
        with pytest.raises(InputError, match="There is no file"):
            list(read_rows(source))


@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
def test_pipes_sockets_and_devices_do_not_hang(tmp_path: Path) -> None:
    pipe, address = tmp_path / "pipe", tmp_path / "s"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address)) if len(str(address)) < 100 else address.symlink_to("/dev/zero")
        for path in (pipe, address, Path("/dev/zero")):
            with pytest.raises(InputError, match="is a device or a pipe, not a file"):
                open_source(path)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (ReadOptions(separator="x"), "“x” cannot be the separator."),
        (ReadOptions(separator='"'), " cannot be the separator."),
        (ReadOptions(encoding="klingon"), "“klingon” is not the name of an encoding."),
        (ReadOptions(sheet="S"), "a.csv is a text file and has no sheets."),
    ],
)
def test_options_that_do_not_exist(tmp_path: Path, options: ReadOptions, sentence: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,text\n1,a\n")
    with pytest.raises(UsageError) as raised:
        open_source(path, options)
    assert sentence in raised.value.message


def test_text_that_only_looks_bad_is_read(tmp_path: Path) -> None:
    for name, data, file_format in (
        ("a.txt", b"RIFF is a word, ID3 a tag, and PAR1 a file\n", FileFormat.LINES),
        ("b.txt", b"BZh is a beginning\nof a text\n", FileFormat.LINES),
        ("c.xlsx", b"id;text\n1;a\n2;b\n", FileFormat.DELIMITED),
        ("d.xls", b"id\ttext\n1\ta\n2\tb\n", FileFormat.DELIMITED),
        ("e.dat", b"id|text\n1|a\n2|b\n", FileFormat.DELIMITED),
        ("f", b"Dear all, I am here.\nHello, you.\nBye.\n", FileFormat.LINES),
        ("g.csv", b"PK is a chemist\nand so on\n", FileFormat.DELIMITED),
    ):
        source = opened(tmp_path / name, data)
        assert source.format is file_format, name
        assert list(read_rows(source))
