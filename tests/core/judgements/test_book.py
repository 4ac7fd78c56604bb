"""A book of judgements: what is added stays, what counts, and what is left of a damaged file."""

import itertools
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import DataError, UsageError
from cfbatch_gui.core.jobs.store.data_folder import back_up
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.judgements.book import BACKUP_SUFFIX, Book, Shelf, disagreeing
from cfbatch_gui.core.judgements.values import THREE, Judgement, Source, Subject, own_scale
from cfbatch_gui.core.system.paths import Paths
from tests.support.sentences import refuses

_ticks = itertools.count(1_800_000_000)


def said(
    query: str,
    text: str,
    grade: int | None,
    *,
    judge: str = "me",
    source: Source = Source.PERSON,
    taken_back: bool = False,
) -> Judgement:
    time = float(next(_ticks))
    return Judgement(Subject("", query), Subject("", text), grade, judge, source, time, taken_back=taken_back)


def read(book: Book) -> dict[tuple[str, str], int]:
    """The grade of each judged pair."""
    return {(each.query.text, each.document.text): each.grade or 0 for each in book.verdicts()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "judgements.db"


def test_what_was_added_is_there_when_it_is_opened_again(path: Path) -> None:
    judgements = [
        said("red", "an apple", 2),
        said("red", "a leaf", None),
        Judgement(Subject("q1"), Subject("d 7"), -1, "trec", Source.FILE, 12.5, note="spam"),
    ]
    with closing(Shelf(path)) as shelf:
        book = shelf.book_or_new("Fruit “and” <b>leaves</b>", THREE)
        book.add(judgements[:1])
        book.add(judgements[1:])
    with closing(Shelf(path, read_only=True)) as shelf:
        again = shelf.book("fruit “and” <b>leaves</b>")
        assert list(again.judgements()) == judgements
        assert (again.name, again.scale) == ("Fruit “and” <b>leaves</b>", THREE)
        tally = again.tally()
    assert (tally.pairs, tally.untold, tally.judges, tally.queries, tally.records) == (2, 1, 2, 2, 3)


def test_a_file_that_was_left_empty_is_no_book_to_who_only_reads(path: Path) -> None:
    path.touch()
    with closing(Shelf(path, read_only=True)) as shelf:
        assert shelf.names() == () and shelf.find() is None
    with closing(Shelf(path)) as shelf:
        assert shelf.find() is None and shelf.book_or_new().name == shelf.used_name()


def test_a_text_is_one_whatever_its_id_and_two_versions_are_two(book: Book) -> None:
    query = Subject("q", "red")
    for number, document in enumerate((Subject("1", "apple"), Subject("2", "apple"), Subject("1", "green apple"))):
        book.add([Judgement(query, document, number, "me", Source.PERSON, float(number))])
    assert read(book) == {("red", "apple"): 1, ("red", "green apple"): 2}


def test_the_newest_of_a_judge_counts_unless_it_was_taken_back(book: Book) -> None:
    book.add([said("q", "a", 0), said("q", "b", 1), said("q", "a", 2)])
    book.add([said("q", "b", None, taken_back=True), said("q", "c", 3), said("q", "c", None)])
    assert read(book) == {("q", "a"): 2}


def test_of_several_sources_the_strongest_counts_and_of_judges_the_middle(book: Book) -> None:
    book.add([said("q", "a", 0, judge="from file", source=Source.LABELS), said("q", "a", 3)])
    book.add([said("q", "b", 3, judge=name) for name in ("one", "two")] + [said("q", "b", 0, judge="three")])
    book.add([said("q", "c", 2, judge="one"), said("q", "c", 1, judge="two")])
    book.add([said("q", "d", 0, judge="one"), said("q", "d", 3, judge="two")])
    book.add([said("q", "d", 2, judge="one", source=Source.SETTLED)])
    assert read(book) == {("q", "a"): 3, ("q", "b"): 3, ("q", "c"): 1, ("q", "d"): 2}
    found = [[each.document.text for each in of_pair] for of_pair in disagreeing(book)]
    assert found == [["b"] * 3, ["c"] * 2]


def test_adding_what_is_there_already_adds_nothing(book: Book) -> None:
    labels = [said("q", f"text {number}", number % 3, source=Source.LABELS) for number in range(20)]
    assert book.add_new([*labels, labels[0]]) == 20
    assert book.add_new(labels) == 0
    assert book.add_new([said("q", "text 4", 0, source=Source.LABELS)]) == 1
    assert book.tally().records == 21
    twice = [said("q", "text 5", grade, source=Source.LABELS) for grade in (0, 0, 1)]
    assert book.add_new(twice) == 2
    assert read(book)["q", "text 5"] == 1


@pytest.mark.parametrize("unusable", [said("", "text", 1), said("q", "", 1), said("q", "text", 2**31)])
def test_a_judgement_of_nothing_is_refused_and_none_of_its_batch_is_kept(book: Book, unusable: Judgement) -> None:
    with pytest.raises(UsageError):
        book.add([said("q", "a", 1), unusable])
    assert book.tally().records == 0


def filled(path: Path, count: int = 400) -> dict[tuple[str, str], int]:
    with closing(Shelf(path)) as shelf:
        book = shelf.book_or_new("Fruit", THREE)
        book.add(
            [said(f"query {number % 7}", f"a longer text about fruit, {number}", number % 3) for number in range(count)]
        )
        return read(book)


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 2")


def changed(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (changed(lambda content: content[:5000]), "book_judgements_is_damaged_copy"),
        (changed(lambda content: content[:8_192] + b"\xa5" * 600 + content[8_792:]), "book_judgements_is_damaged_copy"),
        (changed(lambda _: b"no database at all" * 100), "book_judgements_is_damaged_copy"),
        (newer, "book_judgements_was_written_newer_version"),
    ],
)
def test_a_book_that_cannot_be_read_is_said_and_not_changed_and_its_copy_has_all(
    path: Path, change: Callable[[Path], object], code: str
) -> None:
    expected = filled(path)
    change(path)
    before = path.read_bytes()
    with refuses(DataError, code):
        Shelf(path).find("Fruit")
    assert path.read_bytes() == before
    path.with_suffix(BACKUP_SUFFIX).replace(path)
    with closing(Shelf(path)) as shelf:
        book = shelf.book("Fruit")
        assert read(book) == expected and book.scale == THREE


def test_books_are_found_by_their_names(path: Path) -> None:
    with closing(Shelf(path)) as shelf:
        assert shelf.names() == ()
        shelf.book_or_new("../../Support, 2026").add([said("q", "a", 1)])
        shelf.book_or_new("a book")
        assert shelf.book("../../support,  2026").tally().pairs == 1
        assert shelf.book("a book").tally().pairs == 0
        assert shelf.names() == ("../../Support, 2026", "a book")
        with refuses(UsageError, "there_is_no_book_judgements_name"):
            shelf.book("other")
        with refuses(UsageError, "book_judgements_needs_name_most_most"):
            shelf.book_or_new("two\x00lines")


def test_a_scale_of_ones_own_has_two_to_ten_different_words() -> None:
    assert [grade.name for grade in own_scale((" no ", "yes")).grades] == ["no", "yes"]
    for names in (("one",), ("a", "a"), ("a", " "), tuple(map(str, range(11)))):
        with pytest.raises(UsageError):
            own_scale(names)


def test_a_backup_has_the_books_too(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "data")
    paths.create()
    Ledger.open(paths).close()
    with closing(Shelf(paths.judgements)) as shelf:
        shelf.book_or_new("Support").add([said("q", "a", 2)])
        back_up(paths, tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        archive.extractall(tmp_path / "restored")
    with closing(Shelf(Paths(tmp_path / "restored").judgements)) as shelf:
        assert read(shelf.book("Support")) == {("q", "a"): 2}
