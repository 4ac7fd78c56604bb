"""Caseless search in many texts gives the same results as `str.casefold` and `in`, for all of Unicode."""

import gc
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.text_search import CasefoldIndex
from tests.core.results.test_exports_full_disk import room_for
from tests.screen.small_disk import small_disk

IN_ORDER = "SELECT text_no, row, text, text_id FROM texts WHERE text_no > ? ORDER BY text_no LIMIT ?"
TEXTS = (
    "Straße", "STRASSE", "Maſse", "300 K", "ﬁnd the oﬃce", "İstanbul", "Ελλάδα", "ΕΛΛΆΔΑ", "ΐδιος", "über", "ÜBER",
    "100% _sure_", "back\\slash", "a\0nul and more", "東京 VPN 設定", "счёт", "СЧЁТ", "", " ", "Ꭰꭰ", "ŉ", "ss",
    "ᾳ", "αι", "große ﬁſh", "ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς", "ΰδωρ", "Größe", "GRÖSSE", "😀 Ärger", "𐐀", "𐐨", "a\x1fb", "ÿ",
)  # fmt: skip
NEEDLES = (
    *TEXTS, "rass", "ASSE", "k", "k ", "fi", "%", "_", "\\", "NUL", "and", "vpn 設", "設定", "ün", "чё", "i̇", "\0",
    "x" * 5_000, "ö", "Ö", "rÖß", "öss", "σεύς", "σ", "ς", "😀 ä", "strasse", "b", "\x1f", "s", "STRAS", "\udcff",
)  # fmt: skip


def filled(path: Path, texts: Sequence[str], *, each: int = 1, identifier: str = "") -> JobFolder:
    """A job folder with these texts; each `each` successive ones have the same query number, from 1."""
    folder = JobFolder(path)
    folder.create()
    schema.create(folder.data)
    with closing(sqlite3.connect(folder.data)) as database, database:
        rows = ((index + 1, identifier, text, index // each + 1) for index, text in enumerate(texts))
        database.executemany("INSERT INTO texts VALUES(?, ?, ?, '', 1, ?)", rows)
    return folder


_casefold = cache(str.casefold)  # the many texts are compared with many needles


def by_python(needle: str, texts: Sequence[str], each: int = 1) -> list[int]:
    wanted = needle.casefold()
    return sorted({index // each + 1 for index, text in enumerate(texts) if wanted in _casefold(text)})


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> JobFolder:
    """20 MB of texts: more than the index keeps in memory."""
    return filled(tmp_path_factory.mktemp("many"), many_texts(), each=3)


@pytest.mark.parametrize("needle", ["e", "ee", "eee", "eß", "x"])
def test_what_stands_in_a_text_many_times_is_found_once(tmp_path: Path, needle: str) -> None:
    texts = [sign * count for count in range(30) for sign in ("e", "eß", "x", "")]
    folded = CasefoldIndex(filled(tmp_path, texts, each=3), IN_ORDER)
    assert folded.find(needle).tolist() == by_python(needle, texts, each=3)


@cache
def many_texts() -> list[str]:
    return [f"{TEXTS[number % len(TEXTS)]} {number:05} {'and so on ' * 90}" for number in range(20_000)]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> CasefoldIndex:
    return CasefoldIndex(filled(tmp_path_factory.mktemp("odd"), TEXTS), IN_ORDER)


@pytest.mark.parametrize("needle", NEEDLES)
def test_the_same_texts_as_python_finds(odd: CasefoldIndex, needle: str) -> None:
    assert odd.find(needle).tolist() == by_python(needle, TEXTS)


@given(
    st.text(alphabet="sSßſkKKfFﬁiİıιΙΐéÉ東ÿ%_\\ \0", max_size=4),
    st.lists(st.text(alphabet="sßſkKfﬁiİιΙΐéÉ東ÿ%_\\ \0a"), min_size=1, max_size=7),
    st.integers(1, 3),
)
def test_any_text_in_any_others(
    tmp_path_factory: pytest.TempPathFactory, needle: str, texts: list[str], each: int
) -> None:
    folded = CasefoldIndex(filled(tmp_path_factory.mktemp("any"), texts, each=each), IN_ORDER)
    for _ in ("taken out", "kept"):
        assert folded.find(needle).tolist() == by_python(needle, texts, each)


def test_every_text_of_a_row_is_looked_at_and_none_goes_over_into_the_next(tmp_path: Path) -> None:
    folded = CasefoldIndex(filled(tmp_path, ["one", "two"], identifier="X-7"), IN_ORDER)
    assert folded.find("x-7").tolist() == [1, 2]
    assert folded.find("neX").tolist() == folded.find("one\udcffx").tolist() == []


@pytest.mark.parametrize("needle", ["STRASSE", "счёт", "0777", "absent", "and so on", ""])
def test_many_texts_are_found_the_first_time_and_again(many: JobFolder, needle: str) -> None:
    folded = CasefoldIndex(many, IN_ORDER)
    wanted = by_python(needle, many_texts(), each=3)
    assert folded.find(needle).tolist() == wanted
    assert folded.find(needle).tolist() == wanted


def test_what_is_kept_is_not_read_again_and_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = filled(tmp_path, many_texts())
    before = sorted(tmp_path.iterdir())
    folded = CasefoldIndex(folder, IN_ORDER)
    folded.prepare()
    folder.data.rename(tmp_path / "elsewhere.db")
    assert len(folded.find("gröSSe")) == len(by_python("größe", many_texts()))
    (tmp_path / "elsewhere.db").rename(folder.data)
    del folded
    gc.collect()
    assert sorted(tmp_path.iterdir()) == before


def test_a_search_while_the_texts_are_taken_out_waits_for_them(many: JobFolder) -> None:
    folded = CasefoldIndex(many, IN_ORDER)
    threads = [threading.Thread(target=folded.prepare) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert folded.find("00777").tolist() == [777 // 3 + 1]
    for thread in threads:
        thread.join()


def unnamed_files(folder: Path) -> list[str]:
    """The deleted files in `folder` that this process has open."""
    found = [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return [each for each in found if each.startswith(f"{folder}/") and each.endswith(" (deleted)")]


def test_a_search_leaves_the_room_that_jobs_need(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 80) as disk:
        folder = filled(disk / "job", many_texts())
        folded = CasefoldIndex(folder, IN_ORDER)
        folded.prepare()
        assert folded.find("00777").tolist() == [778]
        assert unnamed_files(folder.path) == []


@pytest.mark.parametrize("size", [1_000_000, 17_000_000])
def test_without_room_on_the_disk_the_texts_are_read_again(many: JobFolder, size: int) -> None:
    folded = CasefoldIndex(many, IN_ORDER)
    with room_for(size):
        assert folded.find("00777").tolist() == [777 // 3 + 1]
        assert folded.find("12345").tolist() == [12_345 // 3 + 1]
        assert not unnamed_files(many.path), "what did not fit still takes room"
    folded.prepare()
    assert len(unnamed_files(many.path)) == 1
    assert folded.find("00777").tolist() == [777 // 3 + 1]


def test_missing_data_is_said_and_found_when_it_is_back(tmp_path: Path) -> None:
    folder = filled(tmp_path, TEXTS)
    folder.data.rename(tmp_path / "elsewhere.db")
    folded = CasefoldIndex(folder, IN_ORDER)
    with pytest.raises(DataError, match="missing"):
        folded.find("ss")
    (tmp_path / "elsewhere.db").rename(folder.data)
    assert folded.find("VPN").tolist() == [15]
