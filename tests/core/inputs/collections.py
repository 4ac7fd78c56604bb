"""Data sets in a folder: a corpus, queries and judgements, without a run."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

Labels = Mapping[str, Mapping[str, int]]
POSITIVES: Labels = {"q1": {"d007": 1, "d050": 1}, "q2": {"d099": 1}}
GRADED: Labels = {"q1": {"d007": 1, "d050": 0}, "q2": {"d099": 1}}


def data_set(folder: Path, labels: Labels = POSITIVES, *, texts: Sequence[str] = (), reverse: bool = False) -> Path:
    """A data set with 120 documents, d000 to d119, or with `texts`; it has one query more than are judged."""
    folder.mkdir(parents=True)
    texts = texts or [f"text number {number}" for number in range(120)]
    documents = [{"_id": f"d{number:03}", "text": text} for number, text in enumerate(texts)]
    queries = [{"_id": name, "text": f"what is {name}"} for name in (*labels, "not judged")]
    _write(folder / "corpus.jsonl", documents[::-1] if reverse else documents)
    _write(folder / "queries.jsonl", queries)
    pairs = [(query, document, label) for query, judged in labels.items() for document, label in judged.items()]
    (folder / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join("\t".join(map(str, pair)) + "\n" for pair in pairs)
    )
    return folder


def _write(path: Path, objects: Sequence[Mapping[str, str]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in objects))
