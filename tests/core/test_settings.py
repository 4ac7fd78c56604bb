import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.system.settings import Migrations, SavedConnection, Settings, lifted


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
        b'{"version": "x"}',
        b'{"version": -1}',
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
    assert "cannot be read" in caplog.text


def test_old_files_are_lifted_one_version_at_a_time() -> None:
    migrations: Migrations = {
        1: lambda old: {"color": old.pop("colour"), **old},
        2: lambda old: {"theme": old.pop("color"), **old},
    }
    expected = {"theme": "dark", "model": "m", "version": 3}
    assert lifted({"colour": "dark", "model": "m"}, 3, migrations) == expected
    assert lifted({"color": "dark", "model": "m", "version": 2}, 3, migrations) == expected
    assert lifted({**expected, "version": 4}, 3, migrations) == expected


def test_the_one_account_of_before_becomes_a_connection(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"account_id": "0" * 32, "connection": "cloudflare", "version": 1}))
    lifted_settings = Settings.load(path)
    assert lifted_settings.connections == (
        SavedConnection("cloudflare", "Cloudflare", "cloudflare", account_id="0" * 32),
    )
    assert lifted_settings.connection == "cloudflare"
    path.write_text(json.dumps({"account_id": "", "version": 1}))
    assert Settings.load(path).connections == ()
