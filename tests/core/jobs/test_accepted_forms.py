"""No request that passes the checks is refused for its form, whatever its texts, model and options.

`--hypothesis-profile=thorough` tries 600 files of each kind.
"""

import json
import random
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind, Split
from cfbatch_gui.core.jobs.states import JobOptions
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.workers_ai.catalogue import MODELS
from cfbatch_gui.core.workers_ai.estimate import tokens_most
from tests.core.jobs.conftest import Clock, opened_bench
from tests.thorough import tries

PIECES = ("why", " ", "", "\n", "=1+1", '"', "\\", "\0", "\ud800", "🌍", "日本語", "ß", "\u2028", "<|endoftext|>")
REPEATED = ("wort ", "語", "🌍", "é", "x", " ", "9,", "a\n", "AB-47 ", "{}")


def text(chance: random.Random) -> str:
    if chance.random() < 0.15:
        return chance.choice(REPEATED) * chance.choice((100, 511, 513, 8_193, 30_000))
    return "".join(chance.choices(PIECES, k=chance.randrange(1, 6)))


def rows(chance: random.Random, kind: Kind) -> list[dict[str, str]]:
    count = chance.choice((1, 2, 5, 101, 250))
    texts = [f"text {number}" for number in range(count)] if count > 100 else [text(chance) for _ in range(count)]
    if kind is Kind.EMBED:
        return [{"text": each} for each in texts]
    queries = [text(chance) for _ in range(chance.randrange(1, 5))]
    return [{"query": query, "context": each} for query in queries for each in texts]


@pytest.mark.thorough
@pytest.mark.timeout(tries(120, 3600))
@pytest.mark.parametrize("kind", list(Kind))
async def test_what_passes_the_checks_is_accepted(tmp_path: Path, clock: Clock, kind: Kind) -> None:
    accepted, at_once = 0, {"seconds_queued": 0.0, "seconds_running": 0.0}
    async with opened_bench(tmp_path, clock, **at_once, load_model=HashedNgrams) as bench:
        for number in range(tries(4, 600)):
            chance = random.Random(f"{kind} {number}")
            made, path = rows(chance, kind), tmp_path / f"{number}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in made))
            model = chance.choice([each for each in MODELS if each.can_rank or kind is Kind.EMBED])
            split = Split(chance.choice((16, 100, 500)), chance.choice((0, 4))) if chance.random() < 0.3 else None
            job = bench.draft(path, kind, model=model.name, split=split)
            pooling = chance.choice(("", *model.poolings))
            chosen = JobOptions(chance.random() < 0.6, pooling, at_once=chance.random() < 0.3, reuse=False)
            job = bench.drafts.change(job.id, options=chosen)
            seen = bench.drafts.examine(job.id)
            if seen.blocker:
                continue
            job = await bench.run(job)
            # A query of "up to 9,000 tokens" may be too long; the checks have warned of it.
            is_warned = seen.too_long > 0 or any(tokens_most(row.get("query", "")) > model.max_tokens for row in made)
            refused = {batch.error_detail or batch.error for batch in job.batches if batch.error}
            assert all(is_warned and "Sequence too long" in error for error in refused), refused
            accepted += len(job.batches)
    assert accepted > 0
