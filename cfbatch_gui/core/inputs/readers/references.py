"""Lists of references, one record a row: RIS, PubMed's own format (.nbib) and BibTeX; and RIS out of such rows."""

import re
import unicodedata
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TextIO

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.input_values import LONGEST_RAW, Candidate, ProblemKind, Progress, Row, Source
from cfbatch_gui.core.inputs.open_file import open_bytes, without_rows
from cfbatch_gui.core.inputs.readers.decoded_text import LONGEST_LINE, lines_of_piece, text_lines
from cfbatch_gui.core.inputs.recognise.table_bounds import notice_above
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.threads import check_stopped

RIS, NBIB, BIBTEX = REFERENCES = ("ris", "nbib", "bibtex")
SUFFIXES = ((".ris",), (".nbib",), (".bib", ".bibtex"))
TEMPLATE = "{title}. {abstract}"

# The columns in their order, and their tags in RIS, PubMed's format and BibTeX: of several a record's first is taken.
_COLUMNS: dict[str, tuple[str, str, str]] = {
    "title": ("TI T1 CT BT", "TI BTI", "title"),
    "abstract": ("AB N2", "AB", "abstract"),
    "authors": ("AU A1", "FAU AU", "author"),
    "year": ("PY Y1", "DP", "year date"),
    "journal": ("T2 JF JO JA", "JT TA", "journal journaltitle booktitle"),
    "doi": ("DO", "doi", "doi"),
    "keywords": ("KW", "OT MH", "keywords keyword"),
    "type": ("TY", "PT", "@"),
    "id": ("ID", "PMID", "@key"),
    "date": ("DA", "", "date"),
    "volume": ("VL", "VI", "volume"),
    "issue": ("IS", "IP", "number issue"),
    "pages": ("SP", "PG", "pages"),
    "issn": ("SN", "IS", "issn isbn"),
    "publisher": ("PB", "PB", "publisher"),
    "language": ("LA", "LA", "language"),
    "url": ("UR", "", "url"),
    "notes": ("N1", "GN", "note"),
}
_TAGS = {name: {key: tags[at].split() for key, tags in _COLUMNS.items()} for at, name in enumerate(REFERENCES)}
# PubMed's tags that mean something else in RIS.
_RENAMED = {"AU": "short authors", "TA": "short journal", "CN": "corporate authors", "RN": "registry numbers"}
_LINES = {RIS: re.compile(r"([A-Z][A-Z0-9])(?:  -| -(?=\s|\Z))"), NBIB: re.compile(r"(?=.{4}-)([A-Z][A-Z0-9]{1,3}) *-")}
_BEGINS = {RIS: {"TY"}, NBIB: {"PMID", "OWN", "STAT"}}  # tags that a record has once, at its beginning
_NUMBER = re.compile(r"\s*\d+[.:]?\s*")  # some programs number the records
_SEVERAL = re.compile(r"(?:;\s+)+")
_PUBMED_DOI = re.compile(r"(10\.\S+) \[doi\]")

Fields = dict[str, list[str]]
"""The values of each tag of a record, in the order of the tags."""


def recognise_references(candidate: Candidate) -> Source | None:
    """The source by its first record, or by its name and any line; all of it is read for the columns.

    Raises InputError where it has no record.
    """
    name = _format_of(candidate)
    if not name:
        return None
    source = Source(candidate.path, name, (), candidate.size, candidate.encoding)
    found = dict.fromkeys(("title", "abstract"))
    above = ""
    is_first = True
    with open_bytes(source.path) as file:
        for fields, raw, _ in _records(name, text_lines(file, source, lambda position: check_stopped())):
            if fields:
                found |= dict.fromkeys(fields)
            elif is_first and name == RIS:
                above = notice_above(raw.splitlines())
            is_first = False
    if is_first:
        raise without_rows(source.path)
    columns = (*(each for each in _COLUMNS if each in found), *(each for each in found if each not in _COLUMNS))
    return replace(source, columns=columns, notices=(above,) if above else ())


def _format_of(candidate: Candidate) -> str:
    lines = [line for line in lines_of_piece(candidate.text) if not (line.isspace() or _NUMBER.fullmatch(line))]
    first = next((line for line in lines if not line.lstrip().startswith("%")), "")
    if (found := _LINES[RIS].match(first)) and found[1] == "TY":
        return RIS
    if re.match(r"PMID- ?\d", first):
        return NBIB
    if _BIBTEX_BEGIN.match(first) and _BIBTEX_RECORD.search(candidate.text):
        return BIBTEX
    for name, suffixes in zip(REFERENCES, SUFFIXES, strict=True):
        pattern = _LINES.get(name, _BIBTEX_BEGIN)
        if candidate.suffix in suffixes and any(map(pattern.match, lines)):
            return name
    return ""


def read_references(source: Source, progress: Progress) -> Generator[Row, None, None]:
    """Yield the records, numbered from 1.

    What stands between records is a problem; a record that ends early is a doubtful row with what could be read.
    """
    number = 0
    with open_bytes(source.path) as file:
        for fields, raw, wrong in _records(source.format, text_lines(file, source, progress)):
            if not fields and not number and source.notices and source.format == RIS:
                continue  # the notice says it
            number += 1
            kind = ProblemKind.DOUBTFUL_ROW if fields else ProblemKind.UNREADABLE_ROW
            cells = tuple(fields.get(column, "") for column in source.columns)
            yield Row(number, cells, wrong, kind, raw[:LONGEST_RAW] if wrong else "")


_Record = tuple[dict[str, str], str, str]
"""The cells by column, the lines as they stand, and what is wrong with them; without cells it is no record."""
_NO_RECORD = message("text_belongs_to_no_record")
_UNCLOSED = message("record_is_not_closed")


def _records(name: str, lines: Iterable[str]) -> Iterator[_Record]:
    return _read_bibtex(lines) if name == BIBTEX else _read_tagged(name, lines)


def _limited(lines: list[str], line: str, size: int) -> int:
    lines.append(line)
    if size + len(line) > LONGEST_LINE:
        raise InputError(message("record_more_than_most_characters", most=LONGEST_LINE))
    return size + len(line)


def _read_tagged(name: str, lines: Iterable[str]) -> Iterator[_Record]:
    pattern, begins = _LINES[name], _BEGINS[name]
    record: list[str] = []
    found: dict[str, list[list[str]]] = {}  # the values of each tag, with their lines
    values: list[list[str]] = []
    tag, size = "", 0
    for line in lines:
        begun = pattern.match(line)
        is_end = name == RIS and begun is not None and begun[1] == "ER"
        is_other = begun is not None and (not found or (begun[1] in begins and begun[1] in found))
        if record and (is_end or is_other):
            yield from _record(name, record, found)
            record, found, values, tag, size = [], {}, [], "", 0
        if is_end or line.isspace():
            continue
        size = _limited(record, line, size)
        if begun is not None:
            tag = begun[1]
            values = found.setdefault(tag, [])
            values.append([line[begun.end() :].strip()])
        elif tag == "KW" and not line[0].isspace():
            values.append([line.strip()])  # EndNote writes all keywords below one tag, a line each
        elif values:
            values[-1].append(line.strip())
    yield from _record(name, record, found)


def _record(name: str, lines: list[str], found: dict[str, list[list[str]]]) -> Iterator[_Record]:
    if found:
        texts = {tag: [" ".join(filter(None, parts)) for parts in values] for tag, values in found.items()}
        yield _cells(name, texts), "".join(lines), ""
    elif not all(map(_NUMBER.fullmatch, lines)):
        yield {}, "".join(lines), _NO_RECORD


def _cells(name: str, fields: Fields) -> dict[str, str]:
    cells: dict[str, str] = {}
    if name == NBIB and (ids := [*fields.get("LID", ()), *fields.get("AID", ())]):
        fields["doi"] = [found[1] for each in ids if (found := _PUBMED_DOI.fullmatch(each))][:1]
    joined = ((tag, "; ".join(filter(None, values))) for tag, values in fields.items())
    filled = {tag: _SEVERAL.sub("; ", text).removeprefix("; ") if ";" in text else text for tag, text in joined if text}
    for column, tags in _TAGS[name].items():
        if tag := next((tag for tag in tags if tag in filled), ""):
            cells[column] = filled.pop(tag)
    for tag, value in filled.items():
        cells[f"{tag} (field)" if tag in cells else _RENAMED.get(tag, tag) if name == NBIB else tag] = value
    last = cells.pop("EP", "") if name == RIS else ""
    ends = re.split("[-\u2013\u2014]+", f"{cells.pop('pages', '')}-{last}")
    if pages := "-".join(filter(None, map(str.strip, ends))):
        cells["pages"] = pages
    if year := cells.pop("year", "").rstrip("/"):
        only = re.search(r"\d{4}", year)
        if only and only[0] != year and "date" not in cells:
            cells["date"], year = year, only[0]
        cells["year"] = year
    return cells or {"title": ""}


_BIBTEX_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*[{(]")
_BIBTEX_BEGIN = re.compile(
    r"[ \t]*@\s*(?:(?:string|comment|preamble)\s*[{(]|[a-z]+\s*[{(]\s*[^\s,{}()=\"]*\s*(?:,|\Z))", re.IGNORECASE
)
_BIBTEX_RECORD = re.compile(r"@\s*[A-Za-z]+\s*[{(]\s*(?:[^\s,{}=][^,{}=\n]*)?,\s*[\w:-]+\s*=")
_BIBTEX_KEY = re.compile(r"\s*([^\s,={}\"][^,={}\"\n]*)?,")
_BIBTEX_FIELD = re.compile(r"[\s,]*([^\s,={}()\"#]+)\s*=\s*")
_BIBTEX_STRAY = re.compile(r"\w\s?=\s?[{\"]")
_BIBTEX_BARE = re.compile(r"[^\s,{}()\"#=]+")
_BIBTEX_JOIN = re.compile(r"\s*#\s*")
_BIBTEX_END = re.compile(r"[\s,]*[})]")
_BRACES_AND_QUOTES = re.compile('[{}"]')


def _read_bibtex(lines: Iterable[str]) -> Iterator[_Record]:
    """What stands outside the records is a comment, unless it has fields.

    A record that is not closed ends where a line begins another.
    """
    strings: dict[str, str] = {}
    record: list[str] = []
    size = 0
    for line in lines:
        if _BIBTEX_BEGIN.match(line):
            yield from _entries("".join(record), strings)
            record, size = [], 0
        size = _limited(record, line, size)
    yield from _entries("".join(record), strings)


def _entries(text: str, strings: dict[str, str]) -> Iterator[_Record]:
    """Yield the records of a text that begins with one; abbreviations are put into `strings`."""
    end = 0
    while begun := _BIBTEX_ENTRY.search(text, end):
        yield from _stray(text[end : begun.start()])
        kind, end = begun[1].lower(), begun.end()
        if kind in ("comment", "preamble"):
            closed = _closing(text, end - 1)
            if closed == len(text):
                break
            end = closed + 1
            continue
        key = _BIBTEX_KEY.match(text, end) if kind != "string" else None
        end = key.end() if key else end
        fields: Fields = {"@": [begun[1]], "@key": [(key[1] or "").strip() if key else ""]}
        while field := _BIBTEX_FIELD.match(text, end):
            value, end = _value(text, field.end(), strings)
            if kind == "string":
                strings[field[1].lower()] = value
            else:
                fields.setdefault(field[1].lower(), []).extend(_plain_values(field[1].lower(), value))
        last = _BIBTEX_END.match(text, end)
        end = last.end() if last else end
        is_sound = last is not None
        if kind != "string" or not is_sound:
            cells = _cells(BIBTEX, fields) if len(fields) > 2 or (is_sound and kind != "string") else {}
            yield cells, text[begun.start() :], "" if is_sound else _UNCLOSED
        if not is_sound:
            return
    yield from _stray(text[end:])


def _stray(text: str) -> Iterator[_Record]:
    if _BIBTEX_STRAY.search(text):
        yield {}, text, _NO_RECORD


def _value(text: str, at: int, strings: Mapping[str, str]) -> tuple[str, int]:
    """The parts of a value joined, and where it ends: behind the text where a part is not closed."""
    parts: list[str] = []
    while True:
        if text[at : at + 1] in ("{", '"'):
            end = _closing(text, at)
            parts.append(text[at + 1 : end])
            at = end + 1
        elif bare := _BIBTEX_BARE.match(text, at):
            parts.append(strings.get(bare[0].lower(), bare[0]))
            at = bare.end()
        joins = _BIBTEX_JOIN.match(text, at)
        if not joins:
            return "".join(parts), at
        at = joins.end()


def _closing(text: str, at: int) -> int:
    """Where the brace or the quotation mark is closed that stands at `at`, the end of the text for nowhere."""
    depth, least = 0, 0 if text[at] == '"' else -1
    for found in _BRACES_AND_QUOTES.finditer(text, at + 1):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == least and (found[0] == '"') == (least == 0):
            return found.start()
    return len(text)


def _plain_values(field: str, value: str) -> list[str]:
    if field in ("url", "doi", "file", "eprint"):
        return [re.sub(r"[{}]|\\(?=[_%&#$~])", "", value).strip()]
    between = r"\s+and\s+(?![^{}]{0,200}\})" if field in ("author", "editor") else r"\Z"
    if field in ("keywords", "keyword"):
        between = ";" if ";" in value else ","
    return [_without_latex(part) for part in re.split(between, value)]


def _pairs(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_MARKS = "\u0300\u0301\u0302\u0303\u0308\u0304\u0307\u0306\u030c\u030b\u0327\u0323\u0331\u030a\u0328"
_ACCENTS = dict(zip("`'^~\"=.uvHcdbrk", _MARKS, strict=True))
_LETTERS = _pairs(
    "ss ß aa å AA Å ae æ AE Æ oe œ OE Œ o ø O Ø l ł L Ł i ı j ȷ dh ð DH Ð th þ TH Þ dj đ DJ Đ S § lambda λ Lambda Λ "
    "pm ± times × cdot · leq ≤ le ≤ geq ≥ ge ≥ approx ≈ sim ~ degree ° textdegree ° dots … ldots … textendash – "
    "textemdash — textquoteright ’ textquoteleft ‘ textasciitilde ~ textbackslash \\ textquotedblleft “ "
    "textquotedblright ” texttrademark ™ textregistered ® euro €"
)
_SIGNS = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " ", "{": "", "}": "", r"\-": "", r"\,": " ", "\\\\": " "}
_STYLE = re.compile(
    r"text(?:it|bf|sc|rm|tt|sf|up|md|sl|normal|superscript|subscript)|emph|math\w+|url|mbox|it|bf|em|rm"
)
_LATEX = re.compile(
    r"\\(?P<accent>[`'^~\"=.]|[uvHcdbrk](?![A-Za-z]))\s*"
    r"(?:\{\s*(?P<braced>\\[ij]|[^\W\d_]?)\s*\}|(?P<bare>\\[ij](?![A-Za-z])|[^\W\d_]))"
    r"|\\(?P<word>[A-Za-z]+)\s*|\\(?P<sign>[^A-Za-z])|\$(?P<math>(?=\S)[^$]{1,200}(?<=\S))\$|---|--|``|''|[~{}]"
)


def _without_latex(text: str) -> str:
    """The text with LaTeX's accents, letters and signs as characters, without its braces, on one line."""
    return " ".join(unicodedata.normalize("NFC", _LATEX.sub(_as_characters, text)).split())


def _as_characters(found: re.Match[str]) -> str:
    if found["accent"]:
        letter = (found["braced"] or found["bare"] or "").removeprefix("\\")
        return letter + _ACCENTS[found["accent"]] if letter else found["accent"]
    if word := found["word"]:
        case = "SMALL" if word.islower() else "CAPITAL"
        try:
            greek = unicodedata.lookup(f"GREEK {case} LETTER {word.upper()}")
        except KeyError:
            greek = "" if _STYLE.fullmatch(word) else found[0]
        return _LETTERS.get(word, greek)
    if found["math"]:
        return _LATEX.sub(_as_characters, found["math"])
    return _SIGNS.get(found[0], found["sign"])


_TAG_OF = {column: tags[0][:2] for column, tags in _COLUMNS.items()}
_REPEATED = frozenset({"AU", "A1", "A2", "A3", "A4", "ED", "KW", "UR", "L1", "L2", "L3", "L4"})
_TYPES = _pairs(
    "article JOUR journalarticle JOUR book BOOK inbook CHAP incollection CHAP inproceedings CONF conference CONF "
    "proceedings CONF phdthesis THES mastersthesis THES thesis THES techreport RPRT report RPRT unpublished UNPB "
    "online ELEC misc GEN"
)


def write_ris(rows: Iterable[Mapping[str, str]], stream: TextIO) -> None:
    """Write a record for each row of cells by column, named as the readers name them.

    `stream` is one that was opened with newline="".

    All other columns, as rank, score and decision of a screening, stand in one note (N1): there Rayyan and ASReview
    put their decisions, EndNote and Zotero keep it for every type and find it, while C1 to C8 mean another thing in
    each type.
    """
    for row in rows:
        lines = (f"{tag}  - {_on_one_line(value)}\r\n" for tag, value in _ris_lines(row))
        stream.write("".join((*lines, "ER  - \r\n\r\n")))


def _on_one_line(value: str) -> str:
    return " ".join(filter(None, map(str.strip, re.split("[\r\n]+", value))))


def _ris_lines(row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    cells = {column: value for column, cell in row.items() if (value := cell.strip())}
    kind = next((value for column, value in cells.items() if column.strip().casefold() == "type"), "")
    kinds = kind.casefold().replace(" ", "").split(";")
    known = next((_TYPES[each] for each in kinds if each in _TYPES), "GEN" if kind else "JOUR")
    is_own = bool(re.fullmatch("[A-Z]{2,10}", kind))
    yield "TY", kind if is_own else known
    notes = []
    for column, value in cells.items():
        tag = _TAG_OF.get(column.strip().casefold()) or (column if re.fullmatch("[A-Z][A-Z0-9]", column) else "")
        if tag == "SP":
            first, _, last = value.partition("-")
            yield from ((tag, each) for tag, each in (("SP", first), ("EP", last)) if each)
        elif tag in _REPEATED:
            yield from ((tag, each) for each in value.split("; ") if each.strip())
        elif tag and tag not in ("TY", "ER"):
            yield tag, value
        elif tag != "TY" or not (is_own or (kinds[0] in _TYPES and len(kinds) == 1)):
            notes.append(f"{column}: {value}")
    if notes:
        yield "N1", " | ".join(notes)
