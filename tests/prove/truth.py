"""The correct value of each text, by the practice service's own model, one at a time, so that none can be confused."""

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.practice.local_models import choose_model

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


@cache
def vectors() -> dict[str, NDArray[np.float32]]:
    """By text."""
    found = {text: choose_model().embed([text])[0] for text in (*QUERIES, *TEXTS)}
    rows = np.array(list(found.values()))
    distances = np.linalg.norm(rows[:, None] - rows[None], axis=2) + 9 * np.eye(len(rows))
    assert distances.min() > 0.01, "two texts cannot be told apart"
    return found


def is_score(query: str, text: str, score: float) -> bool:
    """Whether a score is the correct one for the query and the context."""
    right = float(vectors()[query] @ vectors()[text])
    return abs(right - score) < 0.002  # the practice service's scores have 11 bits


def is_vector(text: str, vector: NDArray[np.float32]) -> bool:
    """Whether a vector is the correct one for the text."""
    return bool(np.allclose(vectors()[text], vector, atol=1e-4))


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
