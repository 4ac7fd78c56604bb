import json
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.system.settings import SavedConnection, Settings, SettingsStore


def test_no_file_means_the_defaults(tmp_path: Path) -> None:
    assert Settings.load(tmp_path / "settings.json") == Settings()


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    changed = replace(
        Settings(), theme="dark", connection="cloudflare", table_layouts={"ranking": "AAB="}, last_folder="/tmp/ä"
    )
    changed.save(path)
    assert Settings.load(path) == changed


def test_unknown_keys_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"theme": "light", "colour": "red", "version": 99}))
    assert Settings.load(path) == Settings(theme="light")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"theme": 3}',
        b'{"table_layouts": {"a": 1}}',
    ],
)
def test_a_broken_file_means_the_defaults_and_a_line_in_the_log(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert Settings.load(path) == Settings()
    assert "damaged" in caplog.text


def test_what_is_sound_in_damaged_settings_is_kept_and_the_file_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    mine = {"id": "cloudflare", "name": "Mine", "kind": "cloudflare", "account_id": "0" * 32}
    stored = {"version": 1, "theme": 7, "connections": [mine, {"id": 3}], "connection": "cloudflare"}
    for number in (1, 2):
        path.write_text(json.dumps(stored))
        with ThreadPoolExecutor(1) as disk:
            store = SettingsStore(path, disk)
            aside = f"settings.damaged-{number}.json"
            assert aside in store.damage and json.loads((tmp_path / aside).read_text()) == stored
            assert store.current == Settings(
                connections=(SavedConnection("cloudflare", "Mine", "cloudflare", account_id="0" * 32),),
                connection="cloudflare",
            )
            store.change(theme="dark")
        assert Settings.load(path).connections[0].name == "Mine"
    with ThreadPoolExecutor(1) as disk:
        assert SettingsStore(path, disk).damage == "", "what was saved since is sound"
