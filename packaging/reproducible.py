"""What makes two builds of one commit the same: fixed times, owners, permissions and orders."""

import hashlib
import os
import subprocess
import tarfile
from collections.abc import Collection
from pathlib import Path
from typing import IO, cast

ROOT = Path(__file__).resolve().parents[1]
_PROGRAM, _DATA = 0o755, 0o644


def epoch_of_commit() -> int:
    """The time of the last commit, in seconds; the variable SOURCE_DATE_EPOCH goes before it."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "-c", "safe.directory=*", "log", "-1", "--format=%ct"]
    return int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def environment(epoch: int) -> dict[str, str]:
    """The environment for programs that build, without what could make one build differ from another."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))}
    return kept | {"SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def settle(folder: Path, programs: Collection[str], epoch: int) -> None:
    """Give everything below a folder, and itself, one time and plain permissions; files of these names can be run."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(_PROGRAM if path.is_dir() or path.name in programs else _DATA)
        os.utime(path, (epoch, epoch), follow_symlinks=False)


def write_archive(folder: Path, top: str, out: Path, epoch: int) -> None:
    """Write what is in a folder as a tar archive compressed with zstd, all of it below a folder `top`."""
    # What zstd writes depends on whether there are threads, not on how many.
    command = ["zstd", "--quiet", "--force", "-12", "-T2", "-o", str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as compressing:
        stream = cast("IO[bytes]", compressing.stdin)  # a pipe
        write_tar(folder, top, stream, epoch)
        stream.close()
    if compressing.returncode:
        raise subprocess.CalledProcessError(compressing.returncode, command)


def write_tar(folder: Path, top: str, stream: IO[bytes], epoch: int) -> None:
    """Write a tar archive in the order of the names, of files that belong to root."""
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for path in [folder, *sorted(folder.rglob("*"), key=lambda path: path.as_posix())]:
            name = Path(top, path.relative_to(folder)).as_posix()
            archive.add(path, name, recursive=False, filter=lambda info: _plain(info, epoch))


def _plain(info: tarfile.TarInfo, epoch: int) -> tarfile.TarInfo:
    info.mtime, info.uid, info.gid, info.uname, info.gname = epoch, 0, 0, "root", "root"
    return info


def checksums(files: list[Path]) -> str:
    """The text of a SHA256SUMS, as sha256sum reads it."""
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(files))
