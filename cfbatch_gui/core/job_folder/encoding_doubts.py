"""Whether another reading of a file whose encoding was guessed would send other texts."""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import islice, zip_longest

from cfbatch_gui.core.errors import EncodingUnknown
from cfbatch_gui.core.inputs.encodings import shown_name
from cfbatch_gui.core.inputs.input_values import ReadOptions
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import message

_MOST_COMPARED = 2_000  # texts with letters beyond ASCII
_EXAMPLES = 3
_BEFORE, _SHOWN = 3, 90  # words of an example before its first letter beyond ASCII, and bytes of all


@dataclass(frozen=True, slots=True)
class Reading:
    """An encoding, and parts of texts as they read in it; the parts are the same in all readings of a file."""

    codec: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EncodingDoubt:
    """A file, 1 or 2, with the reading that was guessed and then those that are about as likely."""

    file: int
    name: str
    readings: tuple[Reading, ...]

    def error(self) -> EncodingUnknown:
        guess, *others = self.readings
        readings = [
            message("{encoding} (“{example}”)", encoding=shown_name(each.codec), example=each.examples[0])
            for each in self.readings
        ]
        named = reduce(lambda before, each: message("{before} or {last}", before=before, last=each), readings)
        return EncodingUnknown(
            message("{name} does not say its encoding, and may be {named}.", name=self.name, named=named),
            file_name=self.name,
            guess=guess.codec,
            others=tuple(each.codec for each in others),
        )


def encoding_doubts(folder: JobFolder, files: Iterable[tuple[str, ReadOptions]]) -> tuple[EncodingDoubt, ...]:
    """The doubts about the files of a job that is filled: the name of each, and how it was read."""
    found = []
    for number, (name, options) in enumerate(files, 1):
        if options.is_encoding_guessed and options.encoding and options.other_encodings:
            with folder.open(read_only=True) as database:
                texts = islice(_texts(database, number), _MOST_COMPARED)
                readings = _readings(texts, options.encoding, options.other_encodings)
            if len(readings) > 1:
                found.append(EncodingDoubt(number, name, readings))
    return tuple(found)


def _texts(database: sqlite3.Connection, file: int) -> Iterator[str]:
    queries = "UNION ALL SELECT text FROM queries" if file == 1 else ""
    found = database.execute(
        f"SELECT text FROM (SELECT text FROM texts WHERE file = ? {queries})"  # noqa: S608 - one of two constants
        " WHERE length(text) != length(CAST(text AS BLOB))",
        (file,),
    )
    return (text for (text,) in found)


def _readings(texts: Iterable[str], guess: str, others: tuple[str, ...]) -> tuple[Reading, ...]:
    read = [text.encode(guess, "ignore") for text in texts]  # without letters that are not the file's, as a template's
    differing = {
        codec: [data for data in read if data.decode(codec, "replace") != data.decode(guess, "replace")]
        for codec in others
    }
    codecs = (guess, *filter(differing.get, others))
    found = (_example(data) for some in zip_longest(*differing.values()) for data in some if data)
    examples = tuple(islice(dict.fromkeys(found), _EXAMPLES))  # of each codec by turns
    return tuple(Reading(codec, tuple(each.decode(codec, "replace") for each in examples)) for codec in codecs)


def _example(data: bytes) -> bytes:
    """The first word with a letter beyond ASCII, and its neighbours."""
    words = data.split()
    index = next((index for index, word in enumerate(words) if not word.isascii()), 0)
    return b" ".join(words[max(0, index - _BEFORE) :])[:_SHOWN]
