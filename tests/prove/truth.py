"""The correct value of each text, requested from the practice service one at a time, so that none can be confused."""

import json
import random
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Kind
from tests.canary import TOKEN
from tests.journeys.terminal import ACCOUNT

MODEL = "@cf/baai/bge-m3"

_SUBJECTS = (
    *("cat", "train", "cloud", "llama", "orange", "violin"),
    *("river", "bakery", "comet", "ledger", "harbour", "cactus"),
)
_VERBS = (
    *("sleeps under", "argues with", "was painted by", "outran"),
    *("once belonged to", "waits behind", "melted near", "sings about"),
)
QUERIES = tuple(f"Which {subject} is meant?" for subject in _SUBJECTS[:6])
_PAIRS = tuple((first, second) for first in _SUBJECTS[:8] for second in _SUBJECTS[8:])
TEXTS = tuple(f"The {first} {verb} the {second}." for (first, second), verb in zip(_PAIRS, _VERBS * 4, strict=True))


@dataclass(frozen=True)
class Truth:
    """`scores` by query and context, `vectors` by text."""

    scores: dict[tuple[str, str], float]
    vectors: dict[str, NDArray[np.float64]]

    def is_score(self, query: str, text: str, score: float) -> bool:
        """Whether a score is the correct one for the query and the context."""
        return abs(self.scores[query, text] - score) < 0.002  # the practice service's scores have 11 bits

    def is_vector(self, text: str, vector: NDArray[np.float32]) -> bool:
        """Whether a vector is the correct one for the text."""
        return bool(np.allclose(self.vectors[text], vector, atol=1e-4))


def learn(url: str) -> Truth:
    """Request every value once."""
    address = f"{url}/accounts/{ACCOUNT}/ai/run/{MODEL}"
    scores = {
        (query, text): float(_ask(address, {"query": query, "contexts": [{"text": text}]})["response"][0]["score"])
        for query in QUERIES
        for text in TEXTS
    }
    vectors = {text: np.array(_ask(address, {"text": text})["data"][0]) for text in TEXTS}
    rows = np.array(list(vectors.values()))
    distances = np.linalg.norm(rows[:, None] - rows[None], axis=2) + 9 * np.eye(len(rows))
    assert distances.min() > 0.01, "two texts cannot be told apart"
    return Truth(scores, vectors)


def write_input(path: Path, kind: Kind, rng: random.Random, *, rows: int) -> Path:
    """Write an input file of so many rows, whose texts have known values."""
    if kind is Kind.RANK:
        lines = ["question,answer,label"]
        queries = rng.sample(QUERIES, max(1, min(len(QUERIES), rows // 6)))
        for query in queries:
            lines += [
                f"{query},{text},{len(text) % 3}" for text in rng.sample(TEXTS, min(len(TEXTS), rows // len(queries)))
            ]
    else:
        repeated = rng.choices(TEXTS, k=max(0, rows - len(TEXTS)))
        lines = ["text", *rng.sample(TEXTS, min(rows, len(TEXTS))), *repeated]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def command_of(path: Path, kind: Kind, name: str, outputs: Sequence[Path] = ()) -> list[object]:
    """The arguments of `cfbatch run` for a file."""
    outs = [word for output in outputs for word in ("--out", output)]
    return ["run", path, f"--{kind.value}", "--connection", "cloudflare", "--model", MODEL, "--name", name, *outs]


def _ask(address: str, body: dict[str, object]) -> dict[str, list[dict[str, float]]]:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        result: dict[str, list[dict[str, float]]] = json.load(answer)["result"]
    return result
