"""`cfbatch-gui` where something is missing: the self-test as a user runs it, and help without Qt."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.canary import TOKEN

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "cfbatch_gui")
# Stores something else than the self-test, and lists what is in the keyring before and after it.
WITH_KEYRING = """
printf test | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null
"$@"; "$1" -c "
import secretstorage
found = [item.get_label() for item in secretstorage.Collection(secretstorage.dbus_init()).get_all_items()]
print('left behind:', found)
"
"""

pytest.importorskip("PySide6")
pytestmark = pytest.mark.timeout(400)


@dataclass(frozen=True)
class Ended:
    """A self-test that has ended: its lines by their titles, each with its outcome."""

    status: int
    out: str
    err: str

    def outcome(self, title: str) -> tuple[str, str]:
        (found,) = [line.split(maxsplit=1) for line in self.out.splitlines() if f" {title} " in f"{line[:40]} "]
        return found[0], found[1].removeprefix(title).strip()


def self_test(
    *arguments: str, command: Sequence[str] = COMMAND, environ: Mapping[str, str] | None = None, cwd: Path = ROOT
) -> Ended:
    """Run it with an empty environment, or this one."""
    done = subprocess.run(
        [*command, "--self-test", *arguments],
        env=environ or {},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return Ended(done.returncode, done.stdout, done.stderr)


def test_nothing_is_needed_around_it_and_nothing_is_left(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for folder in (home, tmp_path / "temporary", tmp_path / "read-only"):
        folder.mkdir()
    (tmp_path / "read-only").chmod(0o500)
    tested = self_test(
        *("--data-dir", str(tmp_path / "data"), "--out", str(tmp_path / "lines.txt")),
        environ={"TMPDIR": str(tmp_path / "temporary"), "HOME": str(home), "PYTHONPATH": str(ROOT)},
        cwd=tmp_path / "read-only",
    )
    assert tested.status == 0, tested.out + tested.err
    outcomes = {line.split()[0] for line in tested.out.splitlines()[:-1]}
    assert outcomes <= {"ok", "skipped", "warning"}
    assert tested.outcome("Keyring")[0] == "skipped"
    assert tested.outcome("A ranking")[0] == tested.outcome("Vectors")[0] == "ok"
    assert "offscreen" in tested.outcome("Window")[1]
    assert (tmp_path / "lines.txt").read_text("utf-8") == tested.out
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert left == {"home", "temporary", "read-only", "lines.txt"}


@pytest.mark.skipif(
    not (shutil.which("dbus-run-session") and shutil.which("gnome-keyring-daemon")),
    reason="dbus-run-session or gnome-keyring-daemon is not installed",
)
def test_an_entry_goes_into_the_keyring_and_boxes_are_no_letters_in_the_users_language(tmp_path: Path) -> None:
    (tmp_path / "fonts").mkdir()
    configuration = tmp_path / "fonts.conf"
    configuration.write_text(
        f"<fontconfig><dir>{tmp_path / 'fonts'}</dir><cachedir>{tmp_path / 'cache'}</cachedir></fontconfig>", "utf-8"
    )
    environ = {name: text for name, text in os.environ.items() if not name.startswith(("DBUS_", "PYTHON_KEYRING"))}
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        environ[name] = str(tmp_path / name.lower())
        (tmp_path / name.lower()).mkdir(mode=0o700)
    environ |= {"QT_QPA_PLATFORM": "offscreen", "FONTCONFIG_FILE": str(configuration), "LC_ALL": "de_DE.UTF-8"}
    in_session = ("dbus-run-session", "--", "sh", "-c", WITH_KEYRING, "sh", *COMMAND)
    with tempfile.TemporaryDirectory() as runtime:  # no socket has a path of more than 107 characters
        tested = self_test(command=in_session, environ=environ | {"LANGUAGE": "", "XDG_RUNTIME_DIR": runtime})
    assert tested.outcome("Schlüsselbund")[0] == "ok"
    assert tested.outcome("Schriften")[0] == "fehlgeschlagen"
    assert tested.out.endswith("left behind: []\n")


def test_lost_files_and_a_display_that_does_not_answer_are_named(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "cfbatch_gui", tmp_path / "cfbatch_gui", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "resources", tmp_path / "resources")
    (tmp_path / "resources" / "icons" / "send.svg").unlink()
    (tmp_path / "resources" / "help" / "pictures" / "map-dark.png").write_bytes(b"")
    tested = self_test(environ={"PYTHONPATH": str(tmp_path), "DISPLAY": ":990"}, cwd=tmp_path)
    outcome, sentence = tested.outcome("Files of the program")
    assert (tested.status, outcome) == (1, "failed")
    assert "icons/send.svg" in sentence and "help/pictures/map-dark.png" in sentence
    assert tested.outcome("Vectors")[0] == "ok"
    outcome, sentence = tested.outcome("Window")
    assert outcome == "failed" and "could not connect to display :990" in sentence


def test_whatever_a_check_raises_is_its_line_without_secrets_and_one_that_hangs_ends_all() -> None:
    script = f"""
import sys, time
from cfbatch_gui.core.errors import DataError
from cfbatch_gui.ui import self_test
def raising(error):
    raise error
self_test.SECONDS = 0.05
self_test.SelfTest(sys.stdout).run({{
    "Raises": lambda: raising(type("Panic", (BaseException,), {{}})("Bearer {TOKEN}")),
    "Fails": lambda: raising(DataError("It cannot be read.", detail="Bearer {TOKEN}")),
    "Works": lambda: "Two\\nlines.",
    "Hangs": lambda: time.sleep(100),
}})
"""
    done = subprocess.run([sys.executable], input=script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "failed   Raises                      Panic: [redacted]",
        "failed   Fails                       It cannot be read. ([redacted])",
        "ok       Works                       Two lines.",
        "failed   Hangs                       It did not end within 0.05 seconds.",
        "4 checks, 3 failed.",
    ]
    assert done.returncode == 1


def test_help_and_version_need_no_qt() -> None:
    script = "import sys; sys.modules['PySide6'] = None; from cfbatch_gui.__main__ import main; main(sys.argv[1:])"
    for argument, language, said in (
        ("--version", "C", "CF Batch"),
        ("--help", "C", "usage: cfbatch-gui"),
        ("--help", "de_DE.UTF-8", "Aufruf: cfbatch-gui"),
    ):
        environ = {"LC_ALL": language, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            [sys.executable, "-c", script, argument], env=environ, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(said)
