"""System calls of a running process, as `strace` writes them: attached to, read, and put together from their halves.

A call of one thread that was under way while another thread made one is written in two halves. Its beginning is kept
as well as its end: what a flush covers was written before it began, and what a write changed is certain at its end.
"""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.prove import child

STRACE = "strace"
# Calls that change files, or say which file a descriptor stands for.
CALLS = (
    "open,openat,openat2,creat,close,close_range,dup,dup2,dup3,fcntl,clone,clone3,fork,vfork,execve,lseek,"
    "read,readv,write,writev,pwrite64,pwritev,pwritev2,sendfile,copy_file_range,splice,"
    "truncate,ftruncate,fallocate,fsync,fdatasync,msync,sync,syncfs,sync_file_range,mmap,"
    "rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,"
    "sendto,sendmsg,io_uring_enter"
)
_LONGEST = 1 << 26  # bytes of a buffer that are written out
TRACE = (STRACE, "-f", "-y", "-xx", "-s", str(_LONGEST), "-e", f"trace={CALLS}", "-e", "raw=read,readv")
_PATIENCE = 60.0  # seconds for strace to attach
_SET_PTRACER, _ANY_TRACER = 0x59616D61, ctypes.c_ulong(-1)

_LINE = re.compile(r"(\d+) +(.*)", re.DOTALL)
_ENDED = re.compile(r"\) += (-?\d+|\?|0x[0-9a-f]+)(?:<[^>]*>)?(.*)$", re.DOTALL)
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>")
_ARGUMENT = re.compile(r'"[^"]*"(?:\.\.\.)?|\[[^\]]*\]|[^,\s][^,]*')
_BUFFERS = re.compile(r'iov_base="([^"]*)"(\.\.\.)?')

_TRACEABLE = f"""
import ctypes, sys
ctypes.CDLL(None).prctl({_SET_PTRACER}, ctypes.c_ulong(-1), 0, 0, 0)
print(flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that succeeded. `began` and `number` count the lines of the log at its beginning and at its end."""

    process: int
    name: str
    arguments: tuple[str, ...]
    result: int
    began: int
    number: int

    def data(self) -> bytes:
        """The bytes that the call was given, in one piece."""
        found = _BUFFERS.findall(",".join(self.arguments))
        if not found:
            found = [(text.strip('".'), text.endswith("...")) for text in self.arguments if text.startswith('"')][:1]
        assert found and not any(cut for _, cut in found), f"{self.name}: bytes are missing in the trace"
        return b"".join(bytes_of(text) for text, _ in found)

    def path(self, index: int) -> str:
        """An argument that is a path, or the path of a descriptor."""
        text = self.arguments[index]
        return os.fsdecode(bytes_of(text[1:-1] if text.startswith('"') else text.partition("<")[2].partition(">")[0]))

    def descriptor(self, index: int = 0) -> int:
        """An argument that is a descriptor; -100 for the current folder."""
        return -100 if self.arguments[index].startswith("AT_FDCWD") else number_of(self.arguments[index])

    def number_at(self, index: int) -> int:
        """An argument that is a number."""
        return number_of(self.arguments[index])


def bytes_of(text: str) -> bytes:
    """The bytes that stand as \\x.. in the log."""
    return bytes.fromhex(text.replace("\\x", ""))


def number_of(text: str) -> int:
    """A decimal or a hexadecimal number at the beginning of an argument."""
    found = re.match(r"-?(0x[0-9a-f]+|\d+)", text)
    assert found, text
    return int(found[0], 0)


def wait_to_be_traced() -> None:
    """To be called in the child: return when strace has attached to it."""
    with suppress(OSError, AttributeError):  # systems that let only ancestors trace, unless told so
        ctypes.CDLL(None).prctl(_SET_PTRACER, _ANY_TRACER, 0, 0, 0)
    due = time.monotonic() + _PATIENCE
    while "TracerPid:\t0\n" in Path("/proc/self/status").read_text():
        if time.monotonic() > due:
            raise TimeoutError("strace did not attach")
        time.sleep(0.001)


def attach(process: int, log: Path) -> subprocess.Popen[bytes]:
    """Start strace on a process that waits for it. It ends with the process."""
    return subprocess.Popen(
        [*TRACE, "-o", log, "-p", str(process)], stdin=subprocess.DEVNULL, stderr=log.with_suffix(".err").open("wb")
    )


def why_not() -> str:
    """Why nothing can be traced here, as a sentence; "" if it can."""
    if sys.platform != "linux":
        return "Calls are recorded with strace, which is a program for Linux."
    if not shutil.which(STRACE):
        return "strace is missing; scripts/system-packages.sh tests installs it."
    with subprocess.Popen([sys.executable, "-c", _TRACEABLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        command = [STRACE, "-qq", "-e", "trace=none", "-o", "/dev/null", "-p", str(process.pid)]
        status = Path(f"/proc/{process.pid}/status")
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tracer:
            child.until(
                lambda: tracer.poll() is not None or "TracerPid:\t0\n" not in status.read_text(), patience=_PATIENCE
            )
            may_attach = tracer.poll() is None
            process.communicate()
    return "" if may_attach else "This system does not let strace attach to a process."


def calls(log: Path) -> Iterator[Call]:
    """The calls that succeeded, in the order in which they ended; those that close a descriptor as they began."""
    halves: dict[int, tuple[int, str]] = {}
    with log.open(encoding="ascii") as lines:
        for number, line in enumerate(lines):
            found = _LINE.match(line.rstrip("\n"))
            if found is None:
                continue
            process, text, began = int(found[1]), found[2], number
            if text.startswith(("+++", "---")):
                continue
            if text.endswith("<unfinished ...>"):
                first = text.removesuffix("<unfinished ...>")
                if first.startswith("close("):  # from here on another thread may get the same number
                    text = f"{first.rstrip()}) = 0"
                else:
                    halves[process] = number, first
                    continue
            resumed = _RESUMED.match(text)
            if resumed is not None and resumed[1] == "close":
                continue
            if resumed is not None:
                began, first = halves.pop(process, (number, f"{resumed[1]}("))
                text = first + text[resumed.end() :]
            call = _call(process, text, began, number)
            if call is not None:
                yield call


def _call(process: int, text: str, began: int, number: int) -> Call | None:
    ended = _ENDED.search(text)
    if ended is None or ended[1] == "?":
        return None
    name, _, rest = text[: ended.start()].partition("(")
    result = int(ended[1], 0)
    if result < 0 and not is_mark(name, rest):
        return None
    arguments = tuple(each.strip() for each in _ARGUMENT.findall(rest.strip()))
    return Call(process, name, arguments, result, began, number)


def is_mark(name: str, rest: str) -> bool:
    """Whether a call is a note of the harness: a write to a descriptor that no process has."""
    return name == "write" and rest.lstrip().startswith("-1,")


def mark(words: str) -> None:
    """Leave words in the log, at this place in the order of calls."""
    with suppress(OSError):
        os.write(-1, words.encode())
