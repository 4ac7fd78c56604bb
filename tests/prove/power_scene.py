"""A folder that is turned into one state of a disk after the other; only what differs is written."""

import os
import shutil
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from tests.prove.power_disk import Tree, digest_of

# Read by no comparison, so that a state which differs only here is not another one.
_NOT_COUNTED = ("data/traffic.jsonl", "data/unfinished/", "tmp/")


def is_left_out(name: str) -> bool:
    """Paths that are not recorded: logs, the file that only takes up room, input files, and the child's output."""
    is_input = "/" not in name and name.endswith(".csv")
    return name in ("child.log", "data/ballast") or name.startswith("data/logs/") or is_input


class Digests:
    """Hashes of trees, which remember those of files that have been seen."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[bytes, bytes]] = {}  # by id of the bytes, which are held so that it stays theirs

    def of(self, tree: Tree) -> bytes:
        """A hash of all files and folders that count."""
        digest = blake2b(digest_size=12)
        for path in sorted(tree):
            if path.startswith(_NOT_COUNTED):
                continue
            content = tree[path]
            digest.update(path.encode() + (b"/" if content is None else b"\0" + self._of(content)))
        return digest.digest()

    def _of(self, content: bytes) -> bytes:
        found = self._known.get(id(content))
        if found is None:
            if len(self._known) > 2000:
                self._known.clear()
            found = self._known[id(content)] = (content, digest_of(content))
        return found[1]


class Scene:
    """The folder `root`. What the program changed there since the last state shows in times and numbers of files."""

    def __init__(self, root: Path, left_out: Callable[[str], bool] = is_left_out) -> None:
        self._root, self._is_left_out = root, left_out
        self._written: dict[str, tuple[bytes, int]] = {}  # by path: bytes, and the number of the file on the disk

    def show(self, tree: Tree) -> None:
        """Make the folder hold exactly this tree, apart from what is left out."""
        there = self._there(tree)
        for path, content in sorted(tree.items()):
            if path in there:
                continue
            target = self._root / path
            if content is None:
                target.mkdir(exist_ok=True)
                continue
            target.write_bytes(content)
            target.chmod(0o600)
            os.utime(target, ns=(0, 0))
            self._written[path] = content, target.stat().st_ino

    def _there(self, tree: Tree) -> set[str]:
        """The paths that are as they should be. What should not be there is removed."""
        there: set[str] = set()
        folders = [self._root]
        while folders:
            for entry in os.scandir(folders.pop()):
                path = os.path.relpath(entry.path, self._root)
                if self._is_left_out(path):
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                if path not in tree or is_folder is not (tree[path] is None):
                    shutil.rmtree(entry.path) if is_folder else Path(entry.path).unlink()
                elif is_folder:
                    there.add(path)
                    folders.append(Path(entry.path))
                elif self._is_same(entry, path, tree[path]):
                    there.add(path)
        return there

    def _is_same(self, entry: "os.DirEntry[str]", path: str, content: bytes | None) -> bool:
        written, number = self._written.get(path, (None, 0))
        found = entry.stat(follow_symlinks=False)
        is_untouched = found.st_mtime_ns == 0 and found.st_ino == number
        return is_untouched and (written is content or written == content)
