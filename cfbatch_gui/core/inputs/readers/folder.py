"""Read a folder of text files, or a zip archive of one: each is a text, and its name the id."""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NoReturn
from zipfile import ZipInfo

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs import open_file
from cfbatch_gui.core.inputs.encodings import Encoding, encoding_of
from cfbatch_gui.core.inputs.input_values import Progress, Row, Source
from cfbatch_gui.core.inputs.readers.plain_text import whole_text
from cfbatch_gui.core.messages import message

_TEXT_SUFFIXES = (".txt", ".text", ".md", ".markdown", ".rst")
_Opener = Callable[[], AbstractContextManager[BinaryIO]]


def read_folder(source: Source, progress: Progress) -> Generator[Row, None, None]:
    """Yield the name and text of each file, by name; `source.encoding` is for those that must be guessed.

    What cannot be read is a problem.
    """
    read = 0
    for number, (name, size, opened) in enumerate(_files(source.path), 1):
        try:
            open_file.check_name(Path(name))
            with opened() as file:
                codec = _codec(file, name, source)
                file.seek(0)
                yield Row(number, (name, whole_text(file, replace(source, path=Path(name), encoding=codec))))
        except InputError as error:
            yield Row(number, (name.encode(errors="replace").decode(), ""), error.message)
        if progress is not None:
            read += size
            progress(read)


def _codec(file: BinaryIO, name: str, source: Source) -> str:
    found = encoding_of(file)
    if not found.is_guessed:
        return found.codec
    if not source.encoding:
        raise InputError(message("name_does_not_say_encoding_save", name=PurePosixPath(name).name))
    return source.encoding


def guessed_encoding(path: Path, most_files: int) -> Encoding | None:
    """The guess for the first of so many files whose encoding has to be guessed; None for none."""
    for _, _, opened in islice(_files(path), most_files):
        try:
            with opened() as file:
                found = encoding_of(file)
        except (OSError, InputError):  # said when it is read
            continue
        if found.is_guessed:
            return found
    return None


def _files(path: Path) -> Iterator[tuple[str, int, _Opener]]:
    if open_file.is_folder(path):
        for each in sorted(text_files(path), key=lambda each: each.relative_to(path).as_posix()):
            yield each.relative_to(path).as_posix(), size_of(each), partial(open_file.open_bytes, each)
        return
    with open_file.open_archive(path) as archive:
        members = text_members(open_file.members_of(archive))
        above = _common_folder(members)
        for member in members:
            opened = partial(open_file.open_member, path, archive, member)
            yield member.filename.removeprefix(above), member.file_size, opened


def text_files(folder: Path) -> list[Path]:
    """The text files of a folder and of folders in it, without hidden ones. Raises InputError."""

    def refuse(error: OSError) -> NoReturn:
        with open_file.looking_at(Path(error.filename)):
            raise error

    files: list[Path] = []
    for at, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += (Path(at, name) for name in names if is_text_name(name) and not name.startswith("."))
    return files


def size_of(file: Path) -> int:
    with suppress(OSError):
        return file.stat().st_size
    return 0


def text_members(members: list[ZipInfo]) -> list[ZipInfo]:
    return sorted((each for each in members if is_text_name(each.filename)), key=lambda each: each.filename)


def _common_folder(members: list[ZipInfo]) -> str:
    """The one folder at the top of the archive, with a slash; "" if there is not exactly one."""
    folders = {member.filename.partition("/")[0] if "/" in member.filename else "" for member in members}
    only = folders.pop() if len(folders) == 1 else ""
    return f"{only}/" if only else ""


def is_text_name(name: str) -> bool:
    return name.lower().endswith(_TEXT_SUFFIXES)
