"""No request that passes the checks is refused for its form, with any layout, texts, model and options.

`--hypothesis-profile=thorough` tries 300 files of each layout.
"""

import asyncio
import csv
import io
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Mapping, Source, Split
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.plan.packing import bodies_of
from cfbatch_gui.core.jobs.states import JobOptions
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai.catalogue import MODELS, find_model
from cfbatch_gui.core.workers_ai.estimate import tokens_most
from tests.canary import TOKEN
from tests.thorough import tries

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(tries(120, 3600))]
ACCOUNT = "0123456789abcdef0123456789abcdef"

PIECES = (
    "why",
    " ",
    "",
    "\n",
    "=1+1",
    '"',
    "\\",
    "\0",
    "\ud800",
    "🌍",
    "日本語",
    "ß",
    "\u2028",
    "<|endoftext|>",
    "a b c",
)
REPEATED = ("wort ", "語", "🌍", "é", "x", " ", "9,", "a\n", "AB-47 ", "{}")
Lists = tuple[list[str], list[str]]


def text(chance: random.Random) -> str:
    if chance.random() < 0.15:
        return chance.choice(REPEATED) * chance.choice((100, 511, 513, 8_193, 30_000))
    return "".join(chance.choices(PIECES, k=chance.randrange(6)))


def queries_and_contexts(chance: random.Random) -> Lists:
    count = chance.choice((1, 2, 5, 5, 101, 250)) if chance.random() < 0.5 else chance.randrange(1, 8)
    contexts = [text(chance) for _ in range(count)] if count < 100 else [f"text {number}" for number in range(count)]
    return [text(chance) for _ in range(chance.randrange(1, 5))], contexts


def table(path: Path, rows: list[list[str]]) -> Path:
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    path.write_text(text.getvalue(), "utf-8", "replace", "")
    return path


def as_texts(folder: Path, queries: list[str], contexts: list[str]) -> list[Path]:
    return [
        table(folder / "a.csv", [["id", "text"], *[[f"{n:03}", text] for n, text in enumerate(queries + contexts)]])
    ]


def as_long(folder: Path, queries: list[str], contexts: list[str]) -> list[Path]:
    rows = [[query, text, str(n % 3)] for query in queries for n, text in enumerate(contexts)]
    return [table(folder / "a.csv", [["query", "text", "label"], *rows])]


def as_requests(folder: Path, queries: list[str], contexts: list[str]) -> list[Path]:
    given = [{"text": text} for text in contexts]
    asked = [{"query": query, "contexts": given, "external_reference": f"r{n}"} for n, query in enumerate(queries)]
    (folder / "a.json").write_text(json.dumps({"requests": asked}), "utf-8")
    return [folder / "a.json"]


def as_two_files(folder: Path, queries: list[str], contexts: list[str]) -> list[Path]:
    first = table(folder / "q.csv", [["query"], *[[query] for query in queries]])
    return [first, table(folder / "c.csv", [["id", "text"], *[[str(n), text] for n, text in enumerate(contexts)]])]


LAYOUTS: list[Callable[[Path, list[str], list[str]], list[Path]]] = [as_texts, as_long, as_requests, as_two_files]


class Service:
    """The practice service, and a job store in which drafts are made one after another."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now = folder, 1_800_000_000.0
        self.paths = Paths(folder / "data")
        self.paths.create()
        self.drafts = Drafts(Ledger.open(self.paths), self.paths)
        self.accepted = 0

    def _app(self) -> Any:
        return practice_app(
            self.folder / "service",
            seconds_queued=0,
            seconds_running=0,
            clock=lambda: self.now,
            load_model=HashedNgrams,
        )

    def take(self, source: Source, mapping: Mapping, second: Source | None, model: str, options: JobOptions) -> None:
        """Send a job unless the checks block it; AssertionError if the service refuses any request."""
        job = self.drafts.create(mapping.kind, "job", model, "practice")
        job = self.drafts.load(job.id, source, mapping, second)
        job = self.drafts.change(job.id, options=options)
        seen = self.drafts.examine(job.id)
        if not seen.blocker:
            bodies = list(bodies_of(self.drafts.folder(job.id), job, [batch.number for batch in seen.batches]))
            assert [len(body) for body in bodies] == [batch.bytes for batch in seen.batches]
            with self.drafts.folder(job.id).open(read_only=True) as database:
                queries = [text for (text,) in database.execute("SELECT text FROM queries")]
            may_be_long = any(tokens_most(text) > find_model(model).max_tokens for text in queries)
            asyncio.run(self._post(bodies, model, is_warned=seen.too_long > 0 or may_be_long))

    async def _post(self, bodies: list[bytes], model: str, *, is_warned: bool) -> None:
        address = f"/accounts/{ACCOUNT}/ai/run/{model}?queueRequest=true"
        headers = {"Authorization": f"Bearer {TOKEN}"}
        transport = httpx.ASGITransport(self._app())
        async with httpx.AsyncClient(
            transport=transport, base_url="http://practice/client/v4", headers=headers
        ) as client:
            for body in bodies:
                answer = await client.post(address, content=body)
                assert answer.status_code == 200, answer.text[:500]
                self.now += 10
                request = {"request_id": answer.json()["result"]["request_id"]}
                result = (await client.post(address, json=request)).json()["result"]
                refused = [each["error"] for each in result["responses"] if not each.get("success", True)]
                # A query of "up to 9,000 tokens" may be too long; the checks have warned of it.
                assert all(is_warned and error.startswith("Sequence too long") for error in refused), refused[:2]
                self.accepted += len(result["responses"]) - len(refused)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_what_passes_the_checks_is_accepted(
    layout: Callable[[Path, list[str], list[str]], list[Path]], tmp_path: Path
) -> None:
    service = Service(tmp_path)
    for number in range(tries(2, 300)):
        chance = random.Random(f"{layout.__name__} {number}")
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            opened = [open_source(path) for path in layout(folder, *queries_and_contexts(chance))]
            source, second = opened[0], opened[1] if len(opened) > 1 else None
            mapping = suggest_mapping(source, None, preview(source), second, preview(second) if second else ())
            if chance.random() < 0.3:
                mapping = replace(mapping, split=Split(chance.choice((16, 100, 500)), chance.choice((0, 4))))
            if check_mapping(mapping, source, second):
                continue
            metadata = chance.choice([each for each in MODELS if each.can_rank or mapping.kind is Kind.EMBED])
            options = JobOptions(chance.random() < 0.6, chance.choice(("", *metadata.poolings)))
            service.take(source, mapping, second, metadata.name, options)
        except UserError as error:
            assert error.message.endswith((".", "}.")), error.message
    assert service.accepted > 0
