"""Workbooks in Excel's old format (.xls), which is also the container of documents and of what has a password."""

import base64
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

# The sheet “S” with “text” and “one”, as xlwt 1.3.0 writes it.
WORKBOOK = zlib.decompress(
    base64.b85decode(
        b"c-p&gUhu)fjZzO8(10BSGsD0CoD6J8VvIn{3F8Pb0OkMx2QgtZ2N3@s1w#sOasVTejg?_H?-_Pb9D?HeAp;Y`29|?Bl7Zn75XUeSF!<%?r7F"
        b"-7IDy@e$Ov+SEs$hnm;)5yV~_;9N(f9QgGpg9xgM-?514cSi}Zp?TcFwpj8P2d?ftYYps6^5NeL{+#{e>SJ6O*xu!tdpD8mU*Dz2Zv2vN(*;"
        b"8>KIm@_yf<XCtZmM{S0%{?_QwJ0&?0fPuI0+%p+{jb2l@CBAr4=9X^(^s640Vw_hRh%7*_+%y)28ITP{|Vp(-U=*Sw=zQ_IQS1R&Os>>gn^1"
        b"mQY%V;Qou~e1uBHWnN|QL)AE87GY^nVVc-X|1;LsHfW`8kl^-wpCI#5XgGCy^1vR8NR|UC%;XgwoNC!|eA6SM7F0Tb<YlF!qu&L5uwiK8Y0V"
        b"YHstrj2(Ww<qi)wF<R)qwUGgTZBcbtJY1klp$^aEDy$V|z^?d!75kDv@>9?H4jA0Ye}Ks2>EI8FUzR7-!7{ft~g+nh~1y?}AB5jADR;NdW5h"
        b"|Ij*%pW!b97nmssCP69~v8Z4Ks{oO9OhOFXz(L@ERQYi+jDk@x3P!;w7zLwX6pVsVFysLvw7Jg=>1P1j@sREWJ9J#<FA)D59VQvJAc!F!2up"
        b"w+Q&)yOAYH^zNmBX|V_;>3nZ-z?9@uyx2!sP|FJj1MNCLYfo8<Hh><%&_`-f<a0@TYwq}u<F6nE0tegLK=y5a"
    )
)
_ENTRY = WORKBOOK.index("Workbook".encode("utf-16-le"))


def patched(at: int, new: bytes) -> bytes:
    return WORKBOOK[:at] + new + WORKBOOK[at + len(new) :]


def named(name: str) -> bytes:
    return patched(_ENTRY, name.encode("utf-16-le").ljust(64, b"\0") + struct.pack("<H", 2 * len(name) + 2))


@pytest.mark.parametrize("name", ["WORKBOOK", "Book"])
def test_the_stream_is_found_whatever_its_program_called_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.xls"
    path.write_bytes(named(name))
    source = open_source(path)
    assert (source.format, source.sheet, source.columns) == ("workbook", "S", ("text",))
    assert [row.cells for row in read_rows(source)] == [("one",)]


def test_one_that_is_too_large_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "a.xls"
    path.write_bytes(WORKBOOK)
    os.truncate(path, 300_000_000)  # a hole, which takes no room
    with pytest.raises(InputError, match=r"a\.xls has 300 MB, more than can be opened in this old form"):
        open_source(path)
    path.unlink()


DAMAGED: dict[str, Callable[[], bytes]] = {
    "a panic: a sheet that begins outside": lambda: patched(1424, b"\xff"),
    "an abort: a cell in row 4,278,190,080": lambda: patched(1553, b"\xff"),
    "a ring: the second sector of the stream follows itself": lambda: patched(4608 + 4, struct.pack("<I", 1)),
    "cut": lambda: WORKBOOK[:3000],
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_does_not_end_the_program(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.xls"
    path.write_bytes(DAMAGED[name]())
    with pytest.raises(InputError, match=r"a\.xls is damaged.*Open it in a spreadsheet program"):
        list(read_rows(open_source(path)))


def test_a_password(tmp_path: Path) -> None:
    path = tmp_path / "a.xls"
    stream = WORKBOOK[512 : 512 + 4096]
    after_first = 4 + struct.unpack_from("<H", stream, 2)[0]
    mark = struct.pack("<HHHHH", 0x2F, 6, 1, 1, 1)  # FILEPASS
    path.write_bytes(patched(512, stream[:after_first] + mark + stream[after_first : -len(mark)]))
    with pytest.raises(InputError, match=r"a\.xls is protected by a password\. Remove the password"):
        open_source(path)
