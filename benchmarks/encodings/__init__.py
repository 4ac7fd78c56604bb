"""Encodings guessed right from 50, 150 and 500 bytes of 39 languages, and questions asked, against chardet alone.

A guess is right if it gives the right text. Of languages with several encodings the usual one and the rarer ones count
apart. "Asked needlessly": the guess is right, and another reading counts as about as likely. "Wrong and not asked": the
guess is wrong, and the right reading is not among those that the user would be asked about.
"""

import importlib.util
from collections import Counter
from collections.abc import Callable

import chardet

from benchmarks.encodings.corpus import LENGTHS, Sample, samples
from benchmarks.limits import Figures, best_of
from cfbatch_gui.core.inputs.encodings import Encoding, guess_encoding

_COUNT = 12  # samples of each language, encoding and length
_LEAST = {50: 97.0, 150: 99.5, 500: 99.9}  # percent right, of the usual encodings
_LEAST_RARER = {50: 94.0, 150: 98.5, 500: 99.5}
_MOST_NEEDLESS = {50: 13.0, 150: 1.5, 500: 0.5}  # percent of usual encodings
_MOST_NOT_ASKED = {50: 1.5, 150: 0.5, 500: 0.5}


def main(figures: Figures) -> None:
    """Shares of right guesses and of questions, and the time of a guess."""
    prose = list(samples(_COUNT))
    for name, guess in _others().items():
        figures.add(
            f"{len(prose)} texts guessed right by {name}", _right(prose, guess), "%", note=_by_length(prose, guess)
        )
    ours = [guess_encoding(sample.data) for sample in prose]
    _measure(figures, "usual", _only(prose, ours, is_usual=True), _LEAST, _MOST_NEEDLESS)
    _measure(figures, "rarer", _only(prose, ours, is_usual=False), _LEAST_RARER, {})
    tables = list(samples(_COUNT // 2, as_table=True))
    in_tables = [guess_encoding(sample.data) for sample in tables]
    _measure(figures, "usual, in a table", _only(tables, in_tables, is_usual=True), {}, {})
    large = ("Die Größe des Geräts und sein Gewicht, für Händler; 12,90.\n" * 1_200).encode("cp1252")[: 64 * 1024]
    took, plain = best_of(5, lambda: guess_encoding(large), lambda: chardet.detect_all(large, compat_names=False))
    figures.versus("guess from 64 KB", took, "chardet.detect_all", plain, limit=4.0)


def _others() -> dict[str, Callable[[bytes], str]]:
    """The libraries alone, where they are installed."""
    found = {"chardet": lambda data: chardet.detect(data, compat_names=False)["encoding"] or "cp1252"}
    if importlib.util.find_spec("charset_normalizer"):
        found["charset-normalizer"] = _by_charset_normalizer
    return found


def _by_charset_normalizer(data: bytes) -> str:
    import charset_normalizer

    best = charset_normalizer.from_bytes(data).best()
    return best.encoding if best else "cp1252"


def _right(found: list[Sample], guess: Callable[[bytes], str]) -> float:
    return 100 * sum(_is_right(sample, guess(sample.data)) for sample in found) / len(found)


def _by_length(found: list[Sample], guess: Callable[[bytes], str]) -> str:
    shares = (_right([each for each in found if each.length == length], guess) for length in LENGTHS)
    return f"by length {', '.join(f'{share:.1f}' for share in shares)}"


def _is_right(sample: Sample, codec: str) -> bool:
    return sample.data.decode(codec, "replace") == sample.data.decode(sample.codec)


Guessed = list[tuple[Sample, Encoding]]


def _only(found: list[Sample], guesses: list[Encoding], *, is_usual: bool) -> Guessed:
    return [pair for pair in zip(found, guesses, strict=True) if pair[0].is_usual is is_usual]


def _measure(
    figures: Figures, name: str, found: Guessed, least: dict[int, float], most_needless: dict[int, float]
) -> None:
    for length in LENGTHS:
        of_length = [pair for pair in found if pair[0].length == length]
        right = [pair for pair in of_length if _is_right(pair[0], pair[1].codec)]
        wrong = [pair for pair in of_length if not _is_right(pair[0], pair[1].codec)]
        needless = sum(bool(guess.other_codecs) for _, guess in right)
        missed = sum(not any(_is_right(sample, codec) for codec in guess.other_codecs) for sample, guess in wrong)
        worst = Counter(f"{sample.language} {sample.codec}" for sample, _ in wrong).most_common(3)
        note = ", ".join(f"{where} {count}" for where, count in worst)
        whole = len(of_length) / 100
        title = f"{length} bytes, {name}"
        figures.add(f"{title}: right", len(right) / whole, "%", limit=least.get(length), is_least=True, note=note)
        figures.add(f"{title}: asked needlessly", needless / whole, "%", limit=most_needless.get(length))
        limit = _MOST_NOT_ASKED[length] if least else None
        figures.add(f"{title}: wrong and not asked", missed / whole, "%", limit=limit)
