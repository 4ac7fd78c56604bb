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
from tests.support.sentences import codes_of, refuses

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the beginning of a compound file


def archive(*names: str) -> bytes:
    return zipped(*((name, b"x") for name in names))


def tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as file:
        file.addfile(tarfile.TarInfo("a.csv"), io.BytesIO())
    return buffer.getvalue()


BAD_FILES = [
    # name, bytes, the code of its sentence or of what it says the file is
    ("a.csv", b"", "name_is_empty_choose_file_least"),
    ("a.csv", b"\n\r\n\n", "name_is_empty_choose_file_least"),
    ("a.csv", b"id,text\n", "name_header_but_no_rows_below"),
    ("a.csv", b'"id,text\n1,2\n', "name_cannot_be_read_table_problem"),
    ("a.pdf", b"%PDF-1.7\n%\xe2\xe3", "pdf_document"),
    ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "picture_program_or_other_data"),
    ("a.csv.gz", gzip.compress(b"id,text\n1,a\n", mtime=0)[:-6], "name_is_damaged_or_protected_password"),
    ("a.csv.gz", gzip.compress(b"", mtime=0), "name_is_empty_choose_file_least"),
    (
        "a.csv.gz",
        gzip.compress(gzip.compress(b"id,text\n1,a\n", mtime=0), mtime=0),
        "name_holds_workbook_document_or_packed",
    ),
    ("a.tar", tar(), "tar_archive"),
    ("a.bz2", b"BZh91AY&SY\xf1\0\0", "compressed_bzip2"),
    ("a.parquet", b"PAR1\x15\x04\x15\0", "name_is_damaged_or_incomplete_cure"),
    ("a.rtf", b"{\\rtf1\\ansi Hello}", "formatted_document_rtf"),
    ("a.xls", OLE + bytes(64), "name_is_damaged_or_incomplete_cure"),
    ("a.doc", OLE + bytes(64), "document_old_office_format"),
    ("a.xls", b"<html><table><tr><td>1</td></tr></table></html>", "web_page_whatever_name_says"),
    ("a.xls", b"\n<div>\n\t<table><tr><td>1</td></tr></table></div>", "web_page_whatever_name_says"),
    ("a.csv", b"MIME-Version: 1.0\nContent-Type: multipart/related\n\n--x\n", "web_page_whatever_name_says"),
    ("a.slk", b'ID;PWXL;N;E\r\nP;PGeneral\r\nC;Y1;X1;K"id"\r\nE\r\n', "table_old_form_sylk"),
    ("a.csv", b'TABLE\r\n0,1\r\n"EXCEL"\r\nVECTORS\r\n', "table_old_form_dif"),
    ("a.bib", b'@string{x = "a"}\n@comment{none}\n', "name_is_empty_choose_file_least"),
    ("a.xml", b'<?xml version="1.0"?><Workbook/>', "xml_file"),
    ("a.zip", archive("readme.txt", "data.csv"), "name_holds_n_files_unpack_choose"),
    ("a.zip", archive(), "empty_zip_archive"),
    ("a.docx", archive("word/document.xml"), "name_is_damaged_or_incomplete_cure"),
    ("a.ods", archive("mimetype", "content.xml"), "name_is_damaged_or_incomplete_cure"),
    ("a.numbers", archive("Index/Document.iwa"), "name_is_apple_numbers_file_export"),
    ("a.xlsx", archive("xl/workbook.xml"), "name_is_damaged_or_incomplete_cure"),
    ("a.xlsx", b"PK\x03\x04 and nothing more", "name_is_damaged_or_incomplete_cure"),
    ("a.csv", bytes(range(256)) * 8, "name_is_not_text_file_or"),
    ("a.txt", bytes(5000), "name_is_not_text_file_or"),
    ("a.jsonl", b"[]\n[]\n", "name_holds_no_json_objects_write"),
    ("a.json", b"[1, 2]", "name_holds_no_json_objects_write"),
    ("a.json", b'[\n  {"text": \n', "name_is_not_valid_json_cause"),
]


@pytest.mark.parametrize(("name", "data", "code"), BAD_FILES, ids=range(len(BAD_FILES)))
def test_a_bad_file_gets_a_sentence(tmp_path: Path, name: str, data: bytes, code: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError) as raised:
        list(read_rows(open_source(path)))
    assert code in codes_of(raised.value)
    assert raised.value.action is Action.CHOOSE_FILE
    assert str(tmp_path) not in raised.value.message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with refuses(InputError, "there_is_no_file_name_was", name="a.csv"):
        open_source(tmp_path / "a.csv")
    with refuses(InputError, "name_cannot_be_read_from_disk"):
        open_source(tmp_path / "a\0.csv")
    with refuses(InputError, "name_cannot_be_read_from_disk"):
        open_source(tmp_path / ("x" * 300))


def test_what_went_away_after_it_was_recognised(tmp_path: Path) -> None:
    for name, data in (("a.csv", b"id,text\n1,a\n"), ("a.txt", b"a\n"), ("a.jsonl", b'{"text":"a"}\n')):
        source = opened(tmp_path / name, data)
        source.path.unlink()
        with refuses(InputError, "there_is_no_file_name_was"):
            list(read_rows(source))
    (tmp_path / "texts").mkdir()
    opened(tmp_path / "texts" / "a.txt", "a\n")
    source = open_source(tmp_path / "texts")
    source.path.rename(tmp_path / "elsewhere")
    with refuses(InputError, "there_is_no_file_name_was", name="texts"):
        list(read_rows(source))


@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
def test_pipes_sockets_and_devices_do_not_hang(tmp_path: Path) -> None:
    pipe, address = tmp_path / "pipe", tmp_path / "s"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address)) if len(str(address)) < 100 else address.symlink_to("/dev/zero")
        for path in (pipe, address, Path("/dev/zero")):
            with refuses(InputError, "name_is_device_or_pipe_not"):
                open_source(path)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (ReadOptions(separator="x"), "wanted_cannot_be_separator_choose_one"),
        (ReadOptions(separator='"'), "wanted_cannot_be_separator_choose_one"),
        *(
            (ReadOptions(encoding=name), "name_is_not_name_encoding_try")
            for name in ("klingon", "rot13", "hex", "idna\0")
        ),
        (ReadOptions(sheet="S"), "name_is_text_file_no_sheets"),
    ],
)
def test_options_that_do_not_exist(tmp_path: Path, options: ReadOptions, sentence: str) -> None:
    with refuses(UsageError, sentence):
        opened(tmp_path / "a.csv", "id,text\n1,a\n", options)


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
