"""Read a folder of text files, or a zip archive of one: each is a text, and its name the id."""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NoReturn
from zipfile import ZipInfo

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.encodings import Encoding, encoding_of
from cfbatch_gui.core.inputs.input_values import Row, Source
from cfbatch_gui.core.inputs.open_file import (
    check_name,
    is_folder,
    looking_at,
    members_of,
    open_archive,
    open_bytes,
    open_member,
)
from cfbatch_gui.core.inputs.readers.plain_text import whole_text
from cfbatch_gui.core.messages import message

_TEXT_SUFFIXES = (".txt", ".text", ".md", ".markdown", ".rst")
_Opener = Callable[[], AbstractContextManager[BinaryIO]]


def read_folder(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    """Yield the name and text of each file, by name; `source.encoding` is for those that must be guessed.

    What cannot be read is a problem.
    """
    read = 0
    for number, (name, size, opened) in enumerate(_files(source.path), 1):
        try:
            check_name(Path(name))
            with opened() as file:
                codec = _codec(file, name, source)
                file.seek(0)
                yield Row(number, (name, whole_text(file, PurePosixPath(name).name, codec)))
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
        raise InputError(message("{name} does not say its encoding. Save it as UTF-8.", name=PurePosixPath(name).name))
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
    if is_folder(path):
        found = text_files(path)
        openers: dict[Path, _Opener] = {each: partial(open_bytes, each) for each in found.files}
        openers |= {each: partial(_refuse, error) for each, error in found.closed.items()}
        for each, opener in sorted(openers.items(), key=lambda item: item[0].relative_to(path).as_posix()):
            yield each.relative_to(path).as_posix(), size_of(each), opener
        return
    with open_archive(path) as archive:
        members = text_members(members_of(archive))
        above = _common_folder(members)
        for member in members:
            yield member.filename.removeprefix(above), member.file_size, partial(open_member, path, archive, member)


@dataclass(frozen=True, slots=True)
class TextFiles:
    """The text files of a folder and of folders in it, without hidden ones, and the folders that cannot be opened."""

    files: tuple[Path, ...]
    closed: dict[Path, InputError]


def text_files(folder: Path) -> TextFiles:
    """Look for text files. Raises InputError if the folder itself cannot be opened."""
    files: list[Path] = []
    closed: dict[Path, InputError] = {}

    def note(error: OSError) -> None:
        within = Path(error.filename)
        try:
            with looking_at(within):
                raise error
        except InputError as said:
            closed[within] = said

    for at, folders, names in os.walk(folder, onerror=note):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += (Path(at, name) for name in names if is_text_name(name) and not name.startswith("."))
    if folder in closed:
        raise closed[folder]
    return TextFiles(tuple(files), closed)


def size_of(file: Path) -> int:
    with suppress(OSError):
        return file.stat().st_size
    return 0


def _refuse(error: InputError) -> NoReturn:
    raise error


def text_members(members: list[ZipInfo]) -> list[ZipInfo]:
    return sorted((each for each in members if is_text_name(each.filename)), key=lambda each: each.filename)


def _common_folder(members: list[ZipInfo]) -> str:
    """The one folder at the top of the archive, with a slash; "" if there is not exactly one."""
    folders = {member.filename.partition("/")[0] if "/" in member.filename else "" for member in members}
    only = folders.pop() if len(folders) == 1 else ""
    return f"{only}/" if only else ""


def is_text_name(name: str) -> bool:
    return name.lower().endswith(_TEXT_SUFFIXES)
