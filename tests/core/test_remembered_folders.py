"""Each kind of file has the folder it was last saved in; a folder that is gone falls back."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cfbatch_gui.core.system.remembered_folders import FolderUse, RememberedFolder
from cfbatch_gui.core.system.settings import Settings, SettingsStore


def test_by_kind_then_the_last_one_then_none(tmp_path: Path) -> None:
    pictures, exports = tmp_path / "pictures", tmp_path / "exports"
    pictures.mkdir()
    exports.mkdir()
    file = tmp_path / "settings.json"
    with ThreadPoolExecutor(1) as disk:
        store = SettingsStore(file, disk)
        of_pictures, of_exports, of_backups = (
            RememberedFolder(store, use) for use in (FolderUse.PICTURES, FolderUse.EXPORTS, FolderUse.BACKUPS)
        )
        assert [of_pictures.path] == [None], "nothing was saved yet"
        of_pictures.keep(pictures)
        assert of_exports.path == pictures, "the last one of any kind"
        of_exports.keep(exports)
        found = [each.path for each in (of_pictures, of_exports, of_backups)]
        assert found == [pictures, exports, exports]
        pictures.rmdir()
        assert of_pictures.path == exports
        exports.rmdir()
        assert [of_pictures.path] == [None]
    assert Settings.load(file).folders == {"pictures": str(pictures), "exports": str(exports)}


def test_a_folder_is_written_only_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as disk:
        store = SettingsStore(tmp_path / "settings.json", disk)
        folder = RememberedFolder(store, FolderUse.EXPORTS)
        folder.keep(tmp_path)
        before = store.current
        folder.keep(tmp_path)
        assert store.current is before


def test_a_folder_that_cannot_be_asked_for_is_gone(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as disk:
        store = SettingsStore(tmp_path / "settings.json", disk)
        exports = RememberedFolder(store, FolderUse.EXPORTS)
        exports.keep(tmp_path)
        for name in ("x" * 5_000, "null\0byte"):  # pathlib raises for one of these, as for a server that is off
            store.change(folders={FolderUse.EXPORTS.value: name})
            assert exports.path == tmp_path
