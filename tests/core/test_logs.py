import errno
import gc
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cfbatch_gui.core.system.logs import MAX_BYTES, redacted, set_up, shut_down
from cfbatch_gui.core.system.paths import Paths
from tests.canary import OLD_TOKEN, OTHER_TOKEN, TOKEN

log = logging.getLogger("cfbatch_gui.test")


@pytest.fixture
def paths(tmp_path: Path) -> Iterator[Paths]:
    paths = Paths(tmp_path)
    paths.create()
    root = logging.getLogger()
    level = root.level
    handler = set_up(paths)
    yield paths
    shut_down(handler)
    root.setLevel(level)


@pytest.mark.parametrize(
    "secret",
    [TOKEN, OTHER_TOKEN, f"cfk_{TOKEN[5:]}", OLD_TOKEN, "Bearer x.y.z", "bearer  shorty"],
    ids=["user", "account", "global key", "old", "bearer", "small letters"],
)
@pytest.mark.parametrize("frame", ["token={}", 'Authorization: "{}"', "({}, 3)", r"b'x\n{}\r\n'"])
def test_tokens_are_blacked_out(secret: str, frame: str) -> None:
    assert secret not in redacted(frame.format(secret))
    assert "[redacted]" in redacted(frame.format(secret))


@pytest.mark.parametrize(
    "harmless",
    [
        "job 0f8fad5b-d9cb-469f-a165-70867728950e is queued",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "@cf/baai/bge-m3",
    ],
)
def test_the_rest_stays(harmless: str) -> None:
    assert redacted(harmless) == harmless


def test_arguments_and_tracebacks_are_covered(paths: Paths) -> None:
    log.info("sent with %s", f"Bearer {OLD_TOKEN}")
    log.error("failed", exc_info=ValueError(OLD_TOKEN))
    text = paths.log.read_text()
    assert "ValueError" in text
    assert OLD_TOKEN not in text


def test_a_log_that_another_process_holds_open_grows_on_and_loses_nothing(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: str, target: str) -> None:
        raise PermissionError(errno.EACCES, "The process cannot access the file", source)

    older = paths.logs / "cfbatch.log.1"
    older.write_bytes(b"older")
    with monkeypatch.context() as on_windows:
        on_windows.setattr(os, "rename", refuse)
        for number in range(4):
            log.info("record %d %s", number, "x" * (MAX_BYTES // 2))
    assert [path.name for path in sorted(paths.logs.iterdir())] == ["cfbatch.log", "cfbatch.log.1"]
    assert older.read_bytes() == b"older"
    assert all(f"record {number} " in paths.log.read_text("utf-8") for number in range(4))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a system without /dev/full")
def test_a_full_disk_adds_no_traceback(paths: Paths, capfd: pytest.CaptureFixture[str]) -> None:
    handler = set_up(paths)
    paths.log.symlink_to("/dev/full")
    log.info("There is no room for this.")
    shut_down(handler)
    gc.collect()
    assert handler not in logging.getLogger().handlers and capfd.readouterr() == ("", "")
