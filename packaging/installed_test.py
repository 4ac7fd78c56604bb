"""`make package-test`: install the .deb of dist/ in a bare Debian 12 and use it there as a person would.

Twice: with what it needs alone, and with what it recommends. Prints a line for each promise; exit status 0 when all are
kept. Pictures of the window are left in build/package/pictures.
"""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from bare_root import BareRoot, CommandFailed
from window_pictures import TEXTS, NoWindow, Pictures

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "package"
_EXAMPLE = "/usr/lib/cfbatch/_internal/cfbatch_gui/resources/examples/help-centre-ranking.csv"
_MOST_TO_DOWNLOAD, _MOST_INSTALLED = 145e6, 280e6  # bytes
_WITHOUT_RECOMMENDED = ("Latin", "Arabic")  # scripts that have letters also then


class Promises:
    """Tries promises one after the other and prints what became of each."""

    def __init__(self) -> None:
        self.broken = 0

    def keep(self, what: str, found: Callable[[], str]) -> None:
        """Print the promise with what was found; a failure or a ValueError breaks it."""
        try:
            print(f"kept    {what}: {found().strip()}", flush=True)
        except (CommandFailed, NoWindow, ValueError) as problem:
            self.broken += 1
            print(f"BROKEN  {what}: {problem}", flush=True)


def main() -> int:
    """Try everything; the exit status."""
    if os.geteuid() != 0:
        print("Only root can set up a bare system: please run “sudo make package-test”.", file=sys.stderr)
        return 2
    packages = sorted((ROOT / "dist").glob("cfbatch_*_amd64.deb"))
    if len(packages) != 1:
        print("There is no package in dist/: please run “make package” first.", file=sys.stderr)
        return 2
    promises = Promises()
    with BareRoot(WORK / "bare") as root:
        pictures = Pictures(root, os.environ["DISPLAY"])
        inside = f"/root/{packages[0].name}"
        (root.path / inside[1:]).write_bytes(packages[0].read_bytes())
        promises.keep("installs with what it needs", lambda: _install(root, inside, "--no-install-recommends"))
        promises.keep("size", lambda: _sizes(root, packages[0]))
        promises.keep("cfbatch --version, empty environment", lambda: root.as_person("/usr/bin/cfbatch", "--version"))
        promises.keep("self-test, empty environment", lambda: _self_test(root))
        promises.keep("ranks the example", lambda: _run_example(root))
        _look(promises, pictures, "without-recommended", _WITHOUT_RECOMMENDED)
        promises.keep("leaves the user's data when it is removed", lambda: _remove(root))
        promises.keep("installs with what it recommends", lambda: _install(root, inside, "--install-recommends"))
        promises.keep("self-test, empty environment", lambda: _self_test(root))
        promises.keep("self-test, with a keyring", lambda: _self_test_with_keyring(root))
        _look(promises, pictures, "with-recommended", tuple(TEXTS))
    print(f"{promises.broken} broken" if promises.broken else "All promises are kept.")
    return 1 if promises.broken else 0


def _install(root: BareRoot, package: str, recommended: str) -> str:
    command = ("apt-get", "install", "--yes", "--quiet", recommended)
    names = re.findall(r"^Inst (\S+)", root.as_root(*command, "--simulate", package), re.MULTILINE)
    names.remove("cfbatch")
    sizes = re.findall(r"^Size: (\d+)", root.as_root("apt-cache", "show", "--no-all-versions", *names), re.MULTILINE)
    root.as_root(*command, package)
    return f"with {len(names)} packages of the system, {sum(map(int, sizes)) / 1e6:.1f} MB to download"


def _sizes(root: BareRoot, package: Path) -> str:
    download = package.stat().st_size
    paths = root.as_root("dpkg", "--listfiles", "cfbatch").split()
    files = [root.path / path.lstrip("/") for path in paths]
    installed = sum(path.lstat().st_size for path in files if path.is_file() and not path.is_symlink())
    found = f"{download / 1e6:.1f} MB to download, {installed / 1e6:.1f} MB installed"
    if download > _MOST_TO_DOWNLOAD or installed > _MOST_INSTALLED:
        raise ValueError(f"{found}; {_MOST_TO_DOWNLOAD / 1e6:.0f} and {_MOST_INSTALLED / 1e6:.0f} MB are the most")
    return found


def _self_test(root: BareRoot) -> str:
    return "status 0, " + root.as_person("/usr/bin/cfbatch-gui", "--self-test").splitlines()[-1]


def _self_test_with_keyring(root: BareRoot) -> str:
    unlocked = (
        "printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec cfbatch-gui --self-test"
    )
    environ = {"HOME": f"/home/{root.home.name}", "PATH": "/usr/bin:/bin"}
    said = root.as_person("dbus-run-session", "--", "sh", "-c", unlocked, environ=environ)
    (line,) = re.findall(r"^\w+ +Keyring +.*", said, re.MULTILINE)
    if not line.startswith("ok"):
        raise ValueError(line)
    return f"status 0; {line}"


def _run_example(root: BareRoot) -> str:
    home = f"/home/{root.home.name}"
    environ = {"HOME": home, "PATH": "/usr/bin:/bin", "CFBATCH_PRACTICE_SECONDS": "0"}
    out = f"{home}/ranked.csv"
    root.as_person("cfbatch", "run", _EXAMPLE, "--rank", "--connection", "practice", "--out", out, environ=environ)
    rows = (root.home / "ranked.csv").read_text("utf-8").splitlines()
    if len(rows) < 2:
        raise ValueError("nothing was written")
    return f"{len(rows) - 1} rows"


def _look(promises: Promises, pictures: Pictures, name: str, scripts: tuple[str, ...]) -> None:
    """Open the window by the desktop file and look for letters; leaves a picture called `name`."""

    def opens() -> str:
        picture = pictures.of_texts()
        path = WORK / "pictures" / f"{name}.png"
        path.parent.mkdir(exist_ok=True)
        picture.save(str(path))
        if pictures.of_texts() != picture:
            raise ValueError("two pictures of the same file differ, so that nothing can be said about letters")
        with_letters = [script for script in TEXTS if pictures.of_texts(script) != picture]
        if missing := [script for script in scripts if script not in with_letters]:
            raise ValueError(f"boxes stand for the letters of {', '.join(missing)}")
        return f"letters of {', '.join(with_letters)} in {path.relative_to(ROOT)}"

    promises.keep("its desktop file opens the window", opens)


def _remove(root: BareRoot) -> str:
    root.as_root("apt-get", "remove", "--yes", "--quiet", "cfbatch")
    left = [path for path in (root.home / ".local" / "share" / "cfbatch").rglob("*") if path.is_file()]
    rest = (root.path / "usr" / "lib" / "cfbatch").exists()
    if not left or rest:
        raise ValueError("the user's data is gone" if not left else "/usr/lib/cfbatch is still there")
    return f"{len(left)} files"


if __name__ == "__main__":
    sys.exit(main())
