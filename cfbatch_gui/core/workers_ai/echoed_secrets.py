"""Remove the secrets that a request was sent with from its answer, in whatever form the other end repeats them.

Forms: as it is, in other letter case, reversed, in hexadecimal, in base64 (both alphabets, alone or inside a longer
text such as "Bearer …"), in UTF-16 and UTF-32; and any of these with characters percent-encoded, escaped as in JSON
(\\u0041, \\/), or written as HTML entities, in part or throughout, up to `_LEVELS` deep.
"""

import base64
import html.entities
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

REDACTED: Final = "[redacted]"

# A shorter secret would also occur in answers by chance, in numbers and in words, and removing it there would spoil
# results. It is removed only as it is, as a whole word of a JSON string that is not a key.
SHORTEST_IN_ALL_FORMS: Final = 8

_LEVELS: Final = 5
_BLOCK: Final = 1 << 20  # bytes that are examined at once
_WORD: Final = 8  # bytes
_SMALL: Final = 1 << 16  # bytes; a smaller answer is searched as a whole
_COMMA: Final = ord(",")
_MARKS: Final = (b"%", b"\\", b"&", b"\0", b"\n", b"\r")  # each escape begins with one of them
_ESCAPE: Final = re.compile(
    rb"%(?P<percent>[0-9A-Fa-f]{2})"
    rb"|\\u00(?P<unicode>[0-9A-Fa-f]{2})"
    rb"|\\x(?P<byte>[0-9A-Fa-f]{2})"
    rb"|\\(?P<itself>[\\/\"'])"
    rb"|&#0*(?P<decimal>\d{2,3});?"
    rb"|&#[xX]0*(?P<hexadecimal>[0-9A-Fa-f]{2});?"
    rb"|&(?P<name>[A-Za-z]{2,31});"
    rb"|(?P<nothing>[\0\r\n]|\\[nrt])"  # the other half of UTF-16; line ends in base64
)
_NUMBER: Final = b"0123456789eE+-."
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BASE64_BEFORE: Final = re.compile(rb"[A-Za-z0-9+/_-]*\Z")
_MOST_BEFORE: Final = 400  # letters of base64 that are removed with the secret behind them
_BASE64_AFTER: Final = re.compile(rb"[A-Za-z0-9+/_-]*={0,2}")

Span = tuple[int, int]  # start and end, in bytes


class EchoedSecrets:
    """Removes secrets from answers. Texts without any of them are returned as they are, the same object."""

    __slots__ = ("_encoded", "_has_comma", "_plain", "_shortest", "_whole_words")

    def __init__(self, secrets: Iterable[str]) -> None:
        given = {secret.encode() for secret in secrets if secret}
        long = {secret for secret in given if len(secret) >= SHORTEST_IN_ALL_FORMS}
        self._plain = frozenset(form.lower() for secret in long for form in (secret, secret[::-1], _hex(secret)))
        self._encoded = frozenset(form for secret in long for form in _base64_forms(secret))
        self._whole_words = [
            re.compile(rb"(?<![A-Za-z0-9_])" + re.escape(secret) + rb'(?![A-Za-z0-9_])(?!"\s*:)')
            for secret in given - long
        ]
        self._shortest = min(map(len, self._plain | self._encoded), default=0)
        self._has_comma = any(b"," in secret for secret in given)

    def __repr__(self) -> str:
        return "EchoedSecrets(…)"  # tracebacks may show local variables

    def removed_from(self, data: bytes) -> bytes:
        """Return `data` with `REDACTED` in place of each secret.

        What was JSON stays JSON. A number that happens to have the digits of a secret in it stays: it may be a result.
        """
        for word in self._whole_words:
            data = word.sub(REDACTED.encode(), data)
        if not self._plain:
            return data
        spans = _merged(span for start, text in self._suspicious(data) for span in self._found(text, start))
        return _replaced(data, spans) if spans else data

    def removed_from_text(self, text: str) -> str:
        """As `removed_from`, for the value of a header, in which each character is a byte."""
        return self.removed_from(text.encode("latin-1", "replace")).decode("latin-1")

    def _suspicious(self, data: bytes) -> list[tuple[int, bytes]]:
        """The parts of `data` that may hold a secret, each with its position.

        No form has a comma in it, and in an answer of numbers they are close together: only the parts between commas
        that are as long as the shortest form need a search.
        """
        words = (self._shortest - _WORD + 1) // _WORD  # that are whole within the shortest form, wherever it starts
        if self._has_comma or words < 3 or len(data) <= _SMALL:
            return [(0, data)] if self._occurs_in(data) else []
        parts = [
            (max(0, start - _WORD), data[max(0, start - _WORD) : end + _WORD])
            for start, end in _merged(_without_comma(data, words))  # a block may end within one
        ]
        together = b",".join(part for _, part in parts)
        return parts if self._occurs_in(together) else []

    def _occurs_in(self, text: bytes) -> bool:
        return any(True for _ in self._found(text, 0))

    def _found(self, text: bytes, offset: int) -> Iterator[Span]:
        """Where secrets stand in `text`, each moved by `offset`."""
        undo: list[_Level] = []
        for _ in range(_LEVELS):
            for start, end in self._found_as_it_is(text):
                span = start, end
                for level in reversed(undo):
                    span = level.source(span)
                yield offset + span[0], offset + span[1]
            if not any(mark in text for mark in _MARKS):
                return
            level = _Level(text)
            if level.text == text:
                return
            undo.append(level)
            text = level.text

    def _found_as_it_is(self, text: bytes) -> Iterator[Span]:
        lower = text.lower()
        for form in self._plain:
            for start in _positions(lower, form):
                yield start, start + len(form)
        for form in self._encoded:
            for start in _positions(text, form):
                before = _BASE64_BEFORE.search(text, max(0, start - _MOST_BEFORE), start)
                after = _BASE64_AFTER.match(text, start)
                yield before.start() if before else start, after.end() if after else start + len(form)


class _Level:
    """A text with one level of escapes undone, and where each of its bytes comes from."""

    __slots__ = ("_ends", "_sources", "_starts", "text")

    def __init__(self, source: bytes) -> None:
        # Pieces begin at `_starts` in the new text and at `_sources` in the source. A piece that comes from an escape
        # ends at `_ends` in the source, one that was copied has 0 there.
        self._starts, self._sources, self._ends = [0], [0], [0]
        pieces: list[bytes] = []
        length = copied = 0
        for escape in _ESCAPE.finditer(source):
            byte = _unescaped(escape)
            if byte is None:
                continue
            pieces += (source[copied : escape.start()], byte)
            length += escape.start() - copied
            copied = escape.end()
            self._add(length, escape.start(), copied)
            length += len(byte)
            self._add(length, copied, 0)
        self.text = b"".join((*pieces, source[copied:]))

    def _add(self, start: int, source: int, end: int) -> None:
        self._starts.append(start)
        self._sources.append(source)
        self._ends.append(end)

    def source(self, span: Span) -> Span:
        """The span in the source that became this one; whole escapes."""
        return self._place(span[0])[0], self._place(span[1] - 1)[1]

    def _place(self, position: int) -> Span:
        piece = bisect_right(self._starts, position) - 1
        source, end = self._sources[piece], self._ends[piece]
        if end:
            return source, end
        source += position - self._starts[piece]
        return source, source + 1


def _unescaped(escape: "re.Match[bytes]") -> bytes | None:
    """The byte that an escape stands for, or none; None for an entity that is not of ASCII."""
    kind, value = escape.lastgroup, escape[escape.lastgroup or 0]
    match kind:
        case "itself":
            return value
        case "nothing":
            return b""
        case "name":
            character = html.entities.html5.get(f"{value.decode()};", "")
            return character.encode() if len(character) == 1 and character.isascii() else None
        case "decimal":
            return bytes([int(value)]) if int(value) < 128 else None
    return bytes([int(value, 16)])


def _hex(secret: bytes) -> bytes:
    return secret.hex().encode()


def _base64_forms(secret: bytes) -> Iterator[bytes]:
    """The letters that depend on the secret alone, for each of its three alignments in a longer text."""
    for before in range(3):
        own = slice(-(-before * 8 // 6), (before + len(secret)) * 8 // 6)
        yield base64.b64encode(bytes(before) + secret)[own]
        yield base64.urlsafe_b64encode(bytes(before) + secret)[own]


def _without_comma(data: bytes, words: int) -> Iterator[Span]:
    """Where at least `words` aligned words without a comma follow each other. Spans are of whole words."""
    view = np.frombuffer(data, dtype=np.uint8)
    overlap = (words - 1) * _WORD
    commas = np.empty(_BLOCK + overlap, dtype=np.bool_)  # written again for each block: new memory takes time
    for block in range(0, len(view), _BLOCK):
        piece = view[block : block + _BLOCK + overlap]
        whole = -(-len(piece) // _WORD) * _WORD
        commas[len(piece) : whole] = False  # the last word of the answer is filled up
        np.equal(piece, _COMMA, out=commas[: len(piece)])
        empty = commas[:whole].view(np.uint64) == 0
        run = empty[: max(0, len(empty) - words + 1)]
        for shift in range(1, words):
            run = run & empty[shift : shift + len(run)]
        found = np.flatnonzero(run)
        if not len(found):
            continue
        gaps = np.flatnonzero(np.diff(found) > 1)
        firsts = found[np.concatenate([[0], gaps + 1])]
        lasts = found[np.concatenate([gaps, [len(found) - 1]])] + words
        yield from zip((block + firsts * _WORD).tolist(), (block + lasts * _WORD).tolist(), strict=True)


def _positions(text: bytes, form: bytes) -> Iterator[int]:
    position = text.find(form)
    while position >= 0:
        yield position
        position = text.find(form, position + 1)


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _replaced(data: bytes, spans: list[Span]) -> bytes:
    is_json = data.lstrip()[:1] in (b"{", b"[")
    pieces: list[bytes] = []
    copied = 0
    for start, end in spans:
        replacement = REDACTED.encode()
        if is_json and not data[start:end].strip(_NUMBER) and not _is_in_string(data, start):
            if data[start - 1] in _NUMBER or data[end : end + 1].strip(_NUMBER) != data[end : end + 1]:
                continue  # a part of a number
            replacement = b"null"
        pieces += (data[copied:start], replacement)
        copied = end
    return b"".join((*pieces, data[copied:]))


def _is_in_string(data: bytes, position: int) -> bool:
    """Whether a position of a JSON text is inside a string."""
    return any(string.start() < position < string.end() for string in _STRING.finditer(data))
