"""Plain text, with one text a line, a paragraph or a file, and Word documents (.docx), with one a paragraph."""

import re
from collections.abc import Generator, Iterator
from itertools import groupby
from statistics import mean
from typing import BinaryIO
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.input_values import Block, Candidate, Progress, Row, Source
from cfbatch_gui.core.inputs.open_file import damaged, open_archive, open_bytes, open_member, without_rows
from cfbatch_gui.core.inputs.readers import decoded_text
from cfbatch_gui.core.messages import message


def read_lines(source: Source, progress: Progress) -> Generator[Block, None, None]:
    """Yield every line that is not blank as one cell, spaces and separators included."""
    is_header = source.has_header
    below = 1
    with open_bytes(source.path) as file:
        for piece in decoded_text.text_pieces(file, source, progress):
            lines = list(decoded_text.lines_of_piece(piece))
            found = [(number, line) for number, line in enumerate(lines, below) if not line.isspace()]
            below += len(lines)
            rows = found[1:] if is_header else found
            is_header = is_header and not found
            if rows:
                yield Block(
                    [number for number, _ in rows], [(decoded_text.without_line_end(line),) for _, line in rows]
                )


def read_paragraphs(source: Source, progress: Progress) -> Generator[Row, None, None]:
    """Yield the texts between blank lines, numbered by their first lines."""
    with open_bytes(source.path) as file:
        lines = decoded_text.text_lines(file, source, progress)
        for is_blank, block in groupby(enumerate(lines, 1), lambda numbered: numbered[1].isspace()):
            numbers, paragraph = zip(*block, strict=True)
            if not is_blank:
                yield Row(numbers[0], (decoded_text.without_line_end("".join(paragraph)),))


_SENTENCE_END = re.compile(r"""[.?!…:。．？！؟۔।]["'”’»)\]」』]*$""")
_LEAST_IN_BLOCKS = 0.75  # share of all lines that are in blocks of several; titles are blocks of one line
_LEAST_ENDED = 0.8  # share of these blocks that end with the end of a sentence
_LEAST_BROKEN = 0.5  # share of lines with another below that end within a sentence


def has_paragraphs(sample: str, *, is_whole: bool) -> bool:
    """Whether blank lines separate paragraphs, and not groups of a list: most lines end within a sentence."""
    lines = [line.strip() for line in decoded_text.lines_of_piece(sample)]
    blocks = [list(block) for is_filled, block in groupby(lines, bool) if is_filled]
    if not is_whole:
        blocks = blocks[:-1]  # the sample may end within it
    several = [block for block in blocks if len(block) > 1]
    if len(blocks) < 2 or sum(map(len, several)) < _LEAST_IN_BLOCKS * sum(map(len, blocks)):
        return False
    ended = [bool(_SENTENCE_END.search(block[-1])) for block in several]
    broken = [not _SENTENCE_END.search(line) for block in several for line in block[:-1]]
    return mean(ended) >= _LEAST_ENDED and mean(broken) >= _LEAST_BROKEN


def read_whole(source: Source, progress: Progress) -> Generator[Row, None, None]:
    with open_bytes(source.path) as file:
        text = whole_text(file, source, progress)
    if text:
        yield Row(1, (text,))


def whole_text(file: BinaryIO, source: Source, progress: Progress = None) -> str:
    """The whole text of a file without its last line end. Raises InputError."""
    parts: list[str] = []
    size = 0
    for line in decoded_text.text_lines(file, source, progress):
        parts.append(line)
        size += len(line)
        if size > decoded_text.LONGEST_LINE:
            name = source.path.name
            raise InputError(message("name_more_than_most_characters_far", name=name, most=decoded_text.LONGEST_LINE))
    return decoded_text.without_line_end("".join(parts))


_MEMBER = "word/document.xml"
# Text that was deleted or moved away, readings above characters, a second form of what stands beside it, and formats.
_NOT_SHOWN = frozenset({"del", "moveFrom", "rt", "Fallback", "pPr", "instrText"})
_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "sym": " "}  # a symbol's font is not known
_CURE = message("open_word_processor_save_again_choose")
_FALSE = ("0", "false", "off")


def recognise_docx(candidate: Candidate) -> Source | None:
    """The source with one column, None for another archive. Raises InputError if it has no text."""
    if _MEMBER not in candidate.members:
        return None
    candidate.refuse_text_options(message("document"))
    source = Source(candidate.path, "docx", ("text",), candidate.size)
    if next(read_docx(source, None), None) is None:
        raise without_rows(candidate.path)
    return source


def read_docx(source: Source, progress: Progress) -> Generator[Row, None, None]:
    """Yield the paragraphs that are not blank, numbered from 1 as in the document, without tracked deletions."""
    number = 0
    try:
        with open_archive(source.path) as archive, open_member(source.path, archive, archive.getinfo(_MEMBER)) as xml:
            for text in _paragraphs(xml):
                number += 1
                if text.strip():
                    yield Row(number, (text.replace("\0", "\ufffd"),))
                if progress is not None and number % 1000 == 0:
                    progress(number)
    except (ElementTree.ParseError, InputError, LookupError, ValueError) as exc:
        raise damaged(source.path, exc, _CURE) from exc


def _paragraphs(xml: BinaryIO) -> Iterator[str]:
    if b"<!DOCTYPE" in xml.read(4096):
        raise ValueError("a document type")
    xml.seek(0)
    passed_over = 0  # open elements whose content is not shown
    for event, element in ElementTree.iterparse(xml, ("start", "end")):  # noqa: S314 - no document type, no entities
        name = _name(element)
        if name in _NOT_SHOWN:
            passed_over += 1 if event == "start" else -1
        if event == "start":
            continue
        if name == "p" and not passed_over:
            yield "".join(
                each.text or "" if _name(each) == "t" else _CHARACTERS.get(_name(each), "") for each in element.iter()
            )
        # A paragraph may hold a text box with paragraphs of its own, which come first.
        if name == "p" or name in _NOT_SHOWN or (name == "r" and _is_hidden(element)):
            element.clear()


def _is_hidden(run: Element) -> bool:
    marks = (each.attrib.values() for each in run.iter() if _name(each) == "vanish")
    return any(not any(value in _FALSE for value in values) for values in marks)


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]
