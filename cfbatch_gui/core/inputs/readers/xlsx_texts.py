"""Texts in .xlsx that calamine would not give as they stand, and a copy of the workbook from which it does.

calamine (0.37) removes blanks from both ends of each text, and of each part with a format of its own, that does not say
xml:space="preserve". To a reader of XML they are part of the text, and the programs that leave the attribute out meant
them: a text would lose the blanks that its program wrote. It also leaves the escapes of U+FFFE and U+FFFF, which XML
cannot hold, as they are written.
"""

import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

PIECE = 1024 * 1024
_LONGEST_ELEMENT = 512 * 1024**2  # bytes of XML
_SHARED = "xl/sharedstrings.xml"  # in lower case

_BLANK = rb"(?:[ \t\r\n]|&#(?:0*(?:9|10|13|32)|x0*(?:9|[aA]|[dD]|20));)"
# A text with a blank at its beginning, or with what may be one at its end. Possessive, because texts are long.
_EDGE = rb">(?:(" + _BLANK + rb"|<!)|[^<]*+(?<=[ \t\r\n;])</)"
_USUAL_EDGE, _PREFIXED_EDGE = re.compile(rb"<t" + _EDGE), re.compile(rb"<\w+:t" + _EDGE)
_BLANK_END = re.compile(_BLANK + rb"</\Z")
_TEXT_TAG = re.compile(rb"(<!\[CDATA\[.*?\]\]>|<!--.*?-->)|<((?:\w+:)?t)(?:\s[^<>]*?)?(/?)>", re.DOTALL)
_ESCAPE = re.compile(rb"_x([0-9A-Fa-f]{4})_")  # from left to right, so that _x005F_xFFFE_ is no escape of U+FFFE
_NO_CHARACTERS = {b"FFFE": "\ufffe".encode(), b"FFFF": "\uffff".encode()}


def pieces_of(archive: zipfile.ZipFile, member: str, end: bytes) -> Iterator[bytes]:
    """Yield the XML in pieces of about 1 MB that end with `end`, such as b"row>", except the last."""
    unfinished: list[bytes] = []
    with archive.open(member) as stream:
        while data := stream.read(PIECE):
            until = data.rfind(end) + len(end)
            if until < len(end):
                unfinished.append(data)
                if len(unfinished) * PIECE > _LONGEST_ELEMENT:
                    raise ValueError(f"no {end.decode()} far and wide")
                continue
            yield b"".join(unfinished) + data[:until]
            unfinished = [data[until:]]
    yield b"".join(unfinished)


def shared_texts(archive: zipfile.ZipFile) -> Iterator[bytes]:
    """Yield the XML of the texts that cells refer to, in pieces."""
    for name in archive.namelist():
        if name.lower() == _SHARED:
            yield from pieces_of(archive, name, b"si>")


def has_inexact_texts(part: bytes, *, has_prefixes: bool) -> bool:
    """Return whether calamine would change a text in a part of the XML. False for most workbooks, so this is fast."""
    if b"_xFFF" in part or b"_xfff" in part:
        return True
    edges = (_PREFIXED_EDGE if has_prefixes else _USUAL_EDGE).finditer(part)
    return any(edge[1] or _BLANK_END.search(edge[0][-20:]) for edge in edges)


def exact_copy(path: Path, sheet: str) -> BytesIO:
    """Return a workbook with one sheet, the member `sheet`, whose texts calamine does not change."""
    copy = BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as written:
        for name in archive.namelist():
            if name == sheet or name.lower() == _SHARED:
                with written.open(name, "w", force_zip64=True) as member:
                    for part in pieces_of(archive, name, b"row>" if name == sheet else b"si>"):
                        member.write(_exact(part))
            elif name.lower().endswith((".xml", ".rels")) and not name.lower().startswith("xl/worksheets/"):
                written.writestr(name, archive.read(name))
    copy.seek(0)
    return copy


def _exact(part: bytes) -> bytes:
    return _ESCAPE.sub(_character, _TEXT_TAG.sub(_preserving, part))


def _preserving(found: re.Match[bytes]) -> bytes:
    return found[1] or b'<%b xml:space="preserve"%b>' % (found[2], found[3])


def _character(found: re.Match[bytes]) -> bytes:
    return _NO_CHARACTERS.get(found[1].upper(), found[0])
