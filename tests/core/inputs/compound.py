"""Small compound files (OLE), made byte by byte as [MS-CFB] describes them."""

import struct

_END, _FREE, _FAT, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF
_STREAM, _STORAGE, _ROOT = 2, 1, 5
_NUMBERS = 128  # in a sector of 512 bytes


def compound(*names: str, within: str = "", sectors_before: int = 0) -> bytes:
    """A file with these empty streams, and perhaps one in a storage; the directory stands behind empty sectors."""
    entries = [_entry("Root Entry", _ROOT, child=1)]
    if within:
        entries.append(_entry("ObjectPool", _STORAGE, after=3, child=2))
        entries.append(_entry(within, _STREAM))
    for number, name in enumerate(names, len(entries)):
        after = number + 1 if number < len(entries) + len(names) - 1 else _NONE
        entries.append(_entry(name, _STREAM, after=after))
    directory = b"".join(entries)
    directory += bytes(-len(directory) % 512)
    used = sectors_before + len(directory) // 512
    tables = 1
    while tables * _NUMBERS < used + tables + _lists(tables):
        tables += 1
    table = [_FREE] * sectors_before
    table += [*range(sectors_before + 1, used), _END]
    table += [_FAT] * (tables + _lists(tables))
    table += [_FREE] * (tables * _NUMBERS - len(table))
    places = list(range(used, used + tables))
    further = b""
    for number in range(_lists(tables)):
        part = places[109 + 127 * number : 109 + 127 * (number + 1)]
        following = used + tables + number + 1 if number + 1 < _lists(tables) else _END
        further += struct.pack("<128I", *part, *[_FREE] * (127 - len(part)), following)
    first = used + tables if further else _END
    head = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII",
        *(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6),
        *(0, tables, sectors_before, 0, 4096, _END, 0, first, _lists(tables)),
    )
    head += struct.pack("<109I", *(places[:109] + [_FREE] * 109)[:109])
    return head + bytes(512 * sectors_before) + directory + struct.pack(f"<{len(table)}I", *table) + further


def _lists(tables: int) -> int:
    """The sectors that say where the tables are which the header has no room for."""
    return -(-max(0, tables - 109) // 127)


def _entry(name: str, kind: int, *, after: int = _NONE, child: int = _NONE) -> bytes:
    text = name.encode("utf-16-le")
    return struct.pack("<64sHBBIII36xIQ", text, len(text) + 2, kind, 1, _NONE, after, child, _END, 0)
