"""Small compound files (OLE), made byte by byte as [MS-CFB] describes them."""

import struct

_END, _FREE, _FAT, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF
_STREAM, _STORAGE, _ROOT = 2, 1, 5
_NUMBERS = 128  # in a sector of 512 bytes


def compound(*names: str, within: str = "") -> bytes:
    """A file with these empty streams, and perhaps one in a storage."""
    entries = [_entry("Root Entry", _ROOT, child=1)]
    if within:
        entries.append(_entry("ObjectPool", _STORAGE, after=3, child=2))
        entries.append(_entry(within, _STREAM))
    for number, name in enumerate(names, len(entries)):
        after = number + 1 if number < len(entries) + len(names) - 1 else _NONE
        entries.append(_entry(name, _STREAM, after=after))
    directory = b"".join(entries)
    directory += bytes(-len(directory) % 512)
    sectors = len(directory) // 512
    table = [*range(1, sectors), _END, _FAT, *[_FREE] * (_NUMBERS - sectors - 1)]
    head = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII",
        *(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6),
        *(0, 1, 0, 0, 4096, _END, 0, _END, 0),
    )
    return head + struct.pack("<109I", sectors, *[_FREE] * 108) + directory + struct.pack("<128I", *table)


def _entry(name: str, kind: int, *, after: int = _NONE, child: int = _NONE) -> bytes:
    text = name.encode("utf-16-le")
    return struct.pack("<64sHBBIII36xIQ", text, len(text) + 2, kind, 1, _NONE, after, child, _END, 0)
