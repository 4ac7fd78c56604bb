"""What probes have shown is kept for each connection, account and model."""

from pathlib import Path

import pytest

from cfbatch_gui.core.connections.user_connections import Learned, LearnedFacts

MODEL, OTHER = "@cf/baai/bge-m3", "@cf/baai/bge-small-en-v1.5"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "learned" / "berlin.json"


def facts(path: Path) -> LearnedFacts:
    return LearnedFacts(lambda connection_id: path.with_name(f"{connection_id}.json"))


def test_it_is_there_at_the_next_start(path: Path) -> None:
    facts(path).keep("berlin", MODEL, Learned(True, False, 5.0, "mark"))
    assert facts(path).of("berlin", MODEL, "mark") == Learned(True, False, 5.0, "mark")
    assert facts(path).of("berlin", OTHER, "mark") == facts(path).of("lisbon", MODEL, "mark") == Learned()


def test_what_was_not_seen_this_time_stays(path: Path) -> None:
    known = facts(path)
    known.keep("berlin", MODEL, Learned(True, True, 5.0, "mark"))
    known.keep("berlin", MODEL, Learned(False, None, 6.0, "mark"))
    assert known.of("berlin", MODEL, "mark") == Learned(False, True, 6.0, "mark")


def test_another_account_behind_the_same_connection_is_not_known(path: Path) -> None:
    known = facts(path)
    known.keep("berlin", MODEL, Learned(False, True, 5.0, "mark"))
    assert known.of("berlin", MODEL, "other") == Learned()
    known.keep("berlin", MODEL, Learned(True, None, 6.0, "other"))
    assert known.of("berlin", MODEL, "other") == Learned(True, None, 6.0, "other")


@pytest.mark.parametrize("damaged", [b"", b"[]", b'{"a": 1}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_file_is_as_none(path: Path, damaged: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damaged)
    known = facts(path)
    assert known.of("berlin", MODEL, "mark") == Learned()
    known.keep("berlin", MODEL, Learned(True, True, 5.0, "mark"))
    assert facts(path).of("berlin", MODEL, "mark").queue is True


def test_it_is_forgotten_with_its_connection(path: Path) -> None:
    known = facts(path)
    known.keep("berlin", MODEL, Learned(True, True, 5.0, "mark"))
    known.forget("berlin")
    known.forget("berlin")
    assert known.of("berlin", MODEL, "mark") == Learned() and not path.exists()
