"""Groups of texts that are all alike, their names, what a person changes in them, and their shares of a column."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from cfbatch_gui.core.results import alike
from cfbatch_gui.core.results.alike import alike_members, find_alike, proposed_likeness
from cfbatch_gui.core.results.group_names import telling_words
from cfbatch_gui.core.results.groups import GroupEdits, edited, find_clusters, names_of, share_table
from tests.core.results.folders import stored, unit_vectors

CASES, MOST = 1_000, 12
LIKENESSES = (1.0, 0.999999999, 0.99999999, 0.8, 0.5, 0.0, -0.5, float(np.sqrt(0.5)))


def case(chance: np.random.Generator) -> NDArray[np.float32]:
    """Few different vectors, zero ones among them, so that many cosines are equal or at the limit."""
    size, kinds = chance.integers(1, MOST + 1, 2)
    vectors = chance.integers(-2, 3, (kinds, 3)).astype(np.float32)
    if chance.random() < 0.5:
        vectors += 1e-4 * chance.standard_normal(vectors.shape).astype(np.float32)  # float32 cannot tell some apart
    scales = chance.choice(np.array([1, 1, 1, 3, 1e-30, 1e30], np.float32), (size, 1))
    made: NDArray[np.float32] = vectors[chance.integers(kinds, size=size)] * scales
    return made


def plain_groups(vectors: NDArray[np.float32], likeness: float) -> list[list[int]]:
    """By double loops; indices of rows."""
    cosine, there = dict[tuple[int, int], float](), range(len(vectors))
    for one in there:
        for other in there:
            a, b = vectors[one].astype(np.float64), vectors[other].astype(np.float64)
            cosine[one, other] = round(float((a / np.sqrt(a @ a)) @ (b / np.sqrt(b @ b))), 9)
    least = round(likeness, 9)
    counts = {row: sum(cosine[row, other] >= least for other in there) for row in there}
    free, groups = set(there), []
    for seed in sorted(there, key=lambda row: (-counts[row], row)):
        if seed in free:
            group = [seed]
            for other in sorted(free - {seed}, key=lambda row: (-cosine[seed, row], row)):
                if all(cosine[other, member] >= least for member in group):
                    group.append(other)
            free -= set(group)
            groups += [sorted(group)] if len(group) > 1 else []
    return groups


SIZES: list[dict[str, int]] = [{}, {"_BLOCK": 3, "_WIDE": 4, "_FEW": 1, "_CHUNK": 2}, {"_MANY": -1, "_FEW": 2}]


def test_groups_equal_plain_double_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(7)
    for number in range(CASES):
        made = case(chance)
        vectors, likeness = made[(made != 0).any(axis=1)], LIKENESSES[number % len(LIKENESSES)]
        for name, size in SIZES[number % len(SIZES)].items():
            monkeypatch.setattr(alike, name, size)
        found = alike_members(vectors.__getitem__, len(vectors), 3, likeness)
        groups = [np.flatnonzero(found == group).tolist() for group in range(found.max(initial=-1) + 1)]
        monkeypatch.undo()
        assert sorted(group for group in groups if group) == sorted(plain_groups(vectors, likeness))


def test_the_largest_group_is_first_and_the_most_typical_text_in_it(tmp_path: Path) -> None:
    centres, chance = unit_vectors(200, 32), np.random.default_rng(3)
    sizes = np.concatenate(([3, 9], np.full(198, 4)))
    vectors = centres[np.repeat(np.arange(200), sizes)] + 0.02 * chance.standard_normal((sizes.sum(), 32))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    embeddings = stored(tmp_path, np.vstack((vectors, unit_vectors(5, 32, seed=9))).astype(np.float32))
    assert 0.4 < proposed_likeness(embeddings) < 1
    found = find_alike(embeddings, 0.95)
    assert [cluster.size for cluster in found.clusters] == [9, *[4] * 198, 3]
    assert found.items_of(1).min() == 13
    assert found.members[-5:].tolist() == [-1] * 5
    assert np.array_equal(np.isnan(found.similarities), found.members < 0)
    mean = vectors[3:12].mean(axis=0)
    cosines = vectors[3:12] @ mean / np.linalg.norm(mean)
    assert found.similarities[3:12] == pytest.approx(cosines, abs=1e-5)
    assert list(found.clusters[0].typical) == (4 + np.argsort(-cosines)[:5]).tolist()


def test_edits_are_known_by_items_and_hold_for_another_number_of_groups(tmp_path: Path) -> None:
    vectors = np.repeat(unit_vectors(4, 16), [5, 4, 3, 2], axis=0)
    embeddings = stored(tmp_path, vectors)
    edits = GroupEdits(
        ((1, "old"), (13, "Last"), (2, "First"), (6, "lost"), (99, "no item")), ((10, 13), (6, 99)), (13, 1)
    )
    assert msgspec.json.decode(msgspec.json.encode(edits), type=GroupEdits) == edits
    made = find_clusters(embeddings, 4)
    found = edited(embeddings, made, edits)
    assert [cluster.size for cluster in found.clusters] == [4, 4, 4]
    assert found.members.tolist() == [-1, *[0] * 4, *[1] * 4, *[2] * 3, -1, 2]
    assert np.flatnonzero(np.isnan(found.similarities)).tolist() == [0, 12]
    assert names_of(found, edits) == {0: "First", 1: "lost", 2: "Last"}  # 13 was removed from what it names
    both = edited(embeddings, find_clusters(embeddings, 1), edits)
    assert names_of(both, edits) == {0: "lost"}
    assert both.clusters[0].size == 12
    assert edited(embeddings, made, GroupEdits(joined=((1, 2), (1, 99)))) is made


def test_a_table_of_shares_has_all_texts_first_and_gathers_rare_values() -> None:
    members = np.array([0, 0, 1, 1, -1, -1])
    names, counts = share_table(members, 2, ["b", "a", "b ", " ", "", "c"], most=2)
    assert names == ("b", "", None)
    assert counts.tolist() == [[2, 2, 2], [1, 0, 1], [1, 1, 0]]
    assert share_table(members[:0], 0, [])[1].shape == (1, 0)


@pytest.mark.parametrize(
    ("texts", "others", "name"),
    [
        (["Reset my Password", "a password, lost", "Password 2024 2024"], ["my lost cat", "a cat 2024"], ("Password",)),
        (["Parcel late", "parcels late", "Parcel parcels"], ["late cat", "late dog"], ("Parcel",)),
        (["人工智能的未来", "我们研究人工智能", "人工智能和医疗"], ["天气很好", "今天天气"], ("人工智能",)),
        (["コーヒーメーカーを買う", "新しいコーヒーメーカー"], ["紅茶を買う", "新しい本"], ("コーヒーメーカー",)),
        (["โรงพยาบาลอยู่ที่ไหน", "ไปโรงพยาบาลวันนี้"], ["ร้านอยู่ที่ไหน", "ไปวันนี้"], ("โรงพยาบาล",)),
        (["नमस्ते हिन्दी", "हिन्दी सीखें"], ["नमस्ते", "सीखें"], ("हिन्दी",)),
        (["Straße", "STRASSE x", "Straße x"], ["Weg x", "Weg"], ("Straße",)),
        (["caf\u00e9 one", "cafe\u0301 two"], ["tea one", "tea two"], ("café",)),
        (["only one"], ["many others", "many more"], ("only", "one")),
        (["one", "two"], ["three", "four"], ()),
    ],
)
def test_a_group_is_named_by_what_its_texts_have_and_others_have_not(
    texts: list[str], others: list[str], name: tuple[str, ...]
) -> None:
    members = np.array([1] * len(texts) + [-1] * len(others))
    assert telling_words([*texts, *others], members, 2) == [(), name]
    assert telling_words(texts, members[: len(texts)], 2) == [(), ()]


def test_names_are_the_same_whatever_the_hash_seed() -> None:
    chance = np.random.default_rng(2)
    texts = [" ".join(f"w{letter}x" for letter in chance.choice(list("abcdefgh"), 4)) for _ in range(60)]
    call = f"print(telling_words({texts}, np.arange(60) % 9, 9))"
    script = f"import numpy as np\nfrom cfbatch_gui.core.results.group_names import telling_words\n{call}"
    names = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, stdout=-1, check=True
        ).stdout
        for seed in "123"
    }
    assert len(names) == 1
