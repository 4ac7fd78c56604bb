"""Files of judgements, read by the reader that comes with trec_eval's Python module."""

from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.files import Form, write_judgements
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject


@pytest.mark.interop
def test_qrels_are_read_as_they_were_meant(tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    texts = ("two words", "a\u2028line", "日本語", 'a "quoted" one', "100%")
    with closing(Book.create(tmp_path / "book.db", "b", clock=lambda: 0.0)) as book:
        book.add(
            [
                Judgement(Subject("q 1", "query"), Subject(text), number - 1, "me", Source.PERSON, 1.0)
                for number, text in enumerate(texts)
            ]
        )
        write_judgements(book, tmp_path / "qrels", Form.TREC)
    with (tmp_path / "qrels").open(encoding="utf-8") as stream:
        found = pytrec_eval.parse_qrel(stream)
    assert list(found) == ["q%201"]
    assert sorted(found["q%201"].values()) == [-1, 0, 1, 2, 3]
