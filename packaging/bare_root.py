"""A bare Debian 12 in a folder: nothing but its smallest set of packages, to install a package in and try it."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

_RELEASE = "bookworm"
_PERSON, _PERSON_ID = "person", 1000
_SECONDS = 600  # for one command, among them the download of every package


class CommandFailed(Exception):
    """A command in the bare system ended with another status than 0; the message is its output."""


class BareRoot:
    """A fresh copy of the bare system during a `with` block, which removes it. Only root can make one.

    The bare system and what apt downloads are kept in the folder `cache`.
    """

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self.path = cache / "root"
        self.home = self.path / "home" / _PERSON

    def __enter__(self) -> Self:
        kept = self._cache / f"{_RELEASE}.tar"
        downloads = self._cache / "downloads"
        downloads.mkdir(parents=True, exist_ok=True)
        self._remove()
        if not kept.exists():
            _succeed(["debootstrap", "--variant=minbase", _RELEASE, str(self.path)])
            _succeed(["tar", "--create", "--file", f"{kept}.part", "--directory", str(self.path), "."])
            kept.with_name(f"{kept.name}.part").rename(kept)
        else:
            self.path.mkdir()
            _succeed(["tar", "--extract", "--file", str(kept), "--directory", str(self.path), "--same-owner", "-p"])
        shutil.copyfile("/etc/resolv.conf", self.path / "etc" / "resolv.conf")
        _succeed(["mount", "-t", "proc", "proc", str(self.path / "proc")])
        _succeed(["mount", "--bind", str(downloads), str(self.path / "var" / "cache" / "apt" / "archives")])
        self.as_root("useradd", "--create-home", "--uid", str(_PERSON_ID), _PERSON)
        self.as_root("apt-get", "update", "--quiet=2")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def _remove(self) -> None:
        for mounted in ("var/cache/apt/archives", "proc"):
            # Path.is_mount() does not see what was mounted from the same disk.
            if subprocess.run(["mountpoint", "--quiet", self.path / mounted], check=False).returncode == 0:
                _succeed(["umount", str(self.path / mounted)])
        if self.path.exists():
            shutil.rmtree(self.path)

    def as_root(self, *command: str) -> str:
        """Run a command as root; what it wrote. Raises CommandFailed."""
        environ = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        return _succeed(["chroot", str(self.path), *command], environ)

    def as_person(self, *command: str, environ: Mapping[str, str] | None = None) -> str:
        """Run a command as an ordinary user, with no more of an environment than is given; what it wrote.

        Raises CommandFailed.
        """
        return _succeed(self._of_person(command), environ or {})

    def start_as_person(self, *command: str, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start a command as an ordinary user; the environment is what is given."""
        return subprocess.Popen(
            self._of_person(command), env=dict(environ), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )

    def _of_person(self, command: Sequence[str]) -> list[str]:
        return [shutil.which("chroot") or "chroot", f"--userspec={_PERSON_ID}:{_PERSON_ID}", str(self.path), *command]

    def give(self, path: Path) -> None:
        """Make the ordinary user the owner of a file or folder in the bare system, and of what is in it."""
        for each in [path, *path.rglob("*")]:
            os.chown(each, _PERSON_ID, _PERSON_ID)


def _succeed(command: Sequence[str], environ: Mapping[str, str] | None = None) -> str:
    full = None if environ is None else dict(environ)
    program = shutil.which(command[0]) or command[0]
    ended = subprocess.run(
        [program, *command[1:]],
        check=False,
        env=full,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
    )
    if ended.returncode:
        raise CommandFailed(f"{' '.join(command)}: status {ended.returncode}\n{ended.stdout.strip()}")
    return ended.stdout
