"""The practice service's local models: common properties, and that neither uses the network."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.practice.local_models import HashedNgrams, PracticeModel, WordLlama

ROOT = Path(__file__).parents[3]
STORY = "This is a story about "


@pytest.fixture(scope="module", params=[WordLlama, HashedNgrams], ids=lambda kind: kind.__name__)
def model(request: pytest.FixtureRequest) -> PracticeModel:
    if request.param is WordLlama:
        pytest.importorskip("wordllama", reason="the extra “practice” is not installed")
    loaded: PracticeModel = request.param()
    return loaded


def test_the_orange_cloud_ranks_first(model: PracticeModel) -> None:
    stories = [STORY + "a llama", STORY + "a hugging emoji", STORY + "an orange cloud"]
    vectors = model.embed([STORY + "Cloudflare", *stories])
    assert int(np.argmax(vectors[1:] @ vectors[0])) == 2


@settings(max_examples=20, deadline=None)
@given(texts=st.lists(st.text(min_size=1, max_size=40), max_size=12))
def test_every_text_has_a_unit_vector_of_its_own(model: PracticeModel, texts: list[str]) -> None:
    vectors = model.embed(texts)
    assert vectors.shape == (len(texts), model.dimension)
    assert vectors.dtype == np.dtype(np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_allclose(model.embed([text])[0], vector, atol=1e-5)


@pytest.mark.parametrize("text", [" ", "🤗", "!?", "日本語", "\u200b", "a", "نص", "हिन्दी"])
def test_the_smallest_texts(model: PracticeModel, text: str) -> None:
    assert np.linalg.norm(model.embed([text])[0]) == pytest.approx(1, abs=1e-5)


def test_hashes_are_the_same_on_every_machine() -> None:
    (vector,) = HashedNgrams().embed(["cloud"])
    signs = {27: 1, 90: -1, 133: 1, 141: 1, 494: -1, 534: 1, 596: 1, 653: -1, 660: 1, 866: 1, 921: -1, 975: 1}
    assert {int(bucket): int(np.sign(vector[bucket])) for bucket in np.flatnonzero(vector)} == signs


PROGRAM = """
import logging, sys
from pathlib import Path
def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise SystemExit(f"network: {event} {arguments}")
sys.addaudithook(watch)
from cfbatch_gui.core.practice.local_models import choose_model
exists = Path.exists
%s
model = choose_model()
model.embed(["text"])
root = logging.getLogger()
print(model.name, root.handlers, root.level == logging.WARNING)
"""
NO_FILE = "Path.exists = lambda path, **more: path.suffix != '.safetensors' and exists(path, **more)"
NO_PACKAGE = "sys.modules['wordllama'] = None"


@pytest.mark.parametrize(
    ("missing", "name"),
    [("", WordLlama.name), (NO_FILE, HashedNgrams.name), (NO_PACKAGE, HashedNgrams.name)],
    ids=["whole", "no file", "no package"],
)
def test_loading_touches_neither_the_network_nor_the_root_logger(missing: str, name: str) -> None:
    if missing != NO_PACKAGE:
        pytest.importorskip("wordllama", reason="the extra “practice” is not installed")
    command = [sys.executable, "-W", "error", "-c", PROGRAM % missing]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=ROOT, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == f"{name} [] True"
