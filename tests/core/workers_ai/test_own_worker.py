from pathlib import Path

import pytest

from cfbatch_gui.core.errors import ExportError, UsageError
from cfbatch_gui.core.system.resources import resource
from cfbatch_gui.core.worker_setup.worker_files import COSTS, GUIDE, NEEDS, REMOVAL, in_the_way, new_secret, save_worker
from cfbatch_gui.core.workers_ai.api_tokens import check_secret

FILES = {
    "README.md",
    "wrangler.jsonc",
    "collect.jsonc",
    "src/index.js",
    "src/collect.js",
    "src/orders.js",
    "src/rounds.js",
    "src/storing.js",
}


def test_it_is_saved_as_it_comes(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "my worker"
    saved = save_worker(folder)
    assert {path.relative_to(folder).as_posix() for path in saved} == FILES
    for name in FILES:
        assert (folder / name).read_bytes() == resource(f"worker/{name}").read_bytes()


def test_saving_again_changes_nothing(tmp_path: Path) -> None:
    assert save_worker(tmp_path) == save_worker(tmp_path)
    assert in_the_way(tmp_path) == ()


def test_a_file_of_the_users_own_is_kept(tmp_path: Path) -> None:
    theirs = tmp_path / "wrangler.jsonc"
    theirs.write_text("{}")
    assert in_the_way(tmp_path) == (theirs,)
    with pytest.raises(UsageError, match=r"“wrangler\.jsonc” .* was kept"):
        save_worker(tmp_path)
    assert theirs.read_text() == "{}"
    assert list(tmp_path.iterdir()) == [theirs]


def test_it_is_replaced_when_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "index.js").write_text("changed")
    (tmp_path / "src" / "mine.js").write_text("mine")
    save_worker(tmp_path, replace=True)
    assert in_the_way(tmp_path) == ()
    assert (tmp_path / "src" / "mine.js").read_text() == "mine"


def test_a_folder_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ExportError, match="“worker”"):
        save_worker(tmp_path / "file" / "worker")


def test_a_folder_with_the_name_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "README.md").mkdir()
    with pytest.raises(ExportError, match="another folder"):
        save_worker(tmp_path)


def test_the_guide_says_the_same_as_the_files(tmp_path: Path) -> None:
    readme = resource("worker/README.md").read_text("utf-8")
    assert len(GUIDE) == 4
    for step in GUIDE:
        assert step.title in readme
        assert step.command in readme
    assert COSTS in " ".join(readme.split())
    assert str(REMOVAL).partition("By hand: ")[2] in " ".join(readme.split())
    assert "22.12" in readme
    assert "22.12" in NEEDS


def test_a_secret_is_long_new_and_fit_to_be_sent() -> None:
    assert len(new_secret()) == 43
    assert new_secret() != new_secret()
    check_secret(new_secret())
