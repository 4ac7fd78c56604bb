"""Cloudflare's runtime workerd, from npm: installed once into build/ and run on loopback ports.

It runs the Worker in each of its deployments. With it comes miniflare, which adds buckets and workflows, for the Worker
with its collecting room: what that stores and how far its instances are is kept in a folder, from which another runtime
can go on after a kill.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import pytest

from tests.canary import TOKEN

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONFIG = HERE / "worker.capnp"
SECRET = TOKEN  # like every secret of the tests, searched for at the end of the session
_INSTALL_SECONDS = 240


def installed_runtime() -> Path:
    """The folder with node_modules, installed once for each package-lock.json. Skips the test if that fails."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("the Worker runs in Cloudflare's runtime, which comes by npm; npm is not installed")
    lock = (HERE / "package-lock.json").read_bytes()
    folder = ROOT / "build" / f"worker-runtime-{hashlib.sha256(lock).hexdigest()[:12]}"
    if not folder.is_dir():
        _install(npm, folder)
    return folder


def _install(npm: str, folder: Path) -> None:
    """Install into a temporary folder and rename it to `folder`: two test processes may do this at the same time."""
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="worker-runtime-") as name:
        part = Path(name, "part")
        part.mkdir()
        for file in ("package.json", "package-lock.json"):
            shutil.copy(HERE / file, part)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        try:
            done = subprocess.run(
                command, cwd=part, capture_output=True, text=True, check=False, timeout=_INSTALL_SECONDS
            )
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm did not install workerd within {_INSTALL_SECONDS} seconds")
        if done.returncode:
            pytest.skip(f"npm could not install workerd: {' '.join(done.stderr.split())[:300]}")
        with suppress(OSError):  # another process was faster
            part.rename(folder)


@dataclass(frozen=True)
class Running:
    """The runtime's process id, and the URLs of the Worker's deployments by the name of their socket."""

    process_id: int
    addresses: Mapping[str, str]


def peak_megabytes(process_id: int) -> float:
    """The most memory that a process has held. Linux only."""
    status = Path(f"/proc/{process_id}/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


@contextmanager
def running_worker(practice_address: str) -> Iterator[Running]:
    """Run the Worker until the block ends.

    `practice_address` is host:port of the practice service, which the binding calls. Skips the test when there is none
    for this computer.
    """
    runtime = next(installed_runtime().glob("node_modules/@cloudflare/workerd-*/bin/workerd*"), None)
    if runtime is None:
        pytest.skip("package-lock.json names no build of workerd for this kind of computer")
    ours, theirs = os.pipe()
    options = [f"--control-fd={theirs}", f"--external-addr=practice={practice_address}"]
    process = subprocess.Popen(
        [str(runtime), "serve", str(CONFIG), "config", *options], env={"SHARED_SECRET": SECRET}, pass_fds=[theirs]
    )
    os.close(theirs)
    try:
        with os.fdopen(ours, encoding="utf-8") as reports:
            yield Running(process.pid, dict(_addresses(reports, process)))
    finally:
        process.terminate()
        process.wait()


def _addresses(reports: Iterator[str], process: "subprocess.Popen[bytes]") -> Iterator[tuple[str, str]]:
    """Read the runtime's reports until each socket was reported; its name and URL."""
    waiting = CONFIG.read_text("utf-8").count("127.0.0.1:0")
    for _, line in zip(range(waiting), reports, strict=False):
        report = json.loads(line)
        waiting -= 1
        yield report["socket"], f"http://127.0.0.1:{report['port']}"
    if waiting:
        raise RuntimeError(f"workerd did not start; exit status {process.wait()}")


WORKER = ROOT / "resources" / "worker"
_STOP_SECONDS = 240.0


class CollectingRuntime:
    """One runtime in a process group of its own, started by `start` or a `with` block.

    `practice_url` is the practice service behind the AI binding, as its `url` (ends in /client/v4); `scripted_url`
    answers for the models @cf/scripted/…. It takes a free port, which later starts take again. `main` is the module
    that is run, the one of collect.jsonc unless another wraps it. Skips the test when it cannot be installed here.
    """

    def __init__(self, practice_url: str, folder: Path, *, scripted_url: str = "", main: Path | None = None) -> None:
        self.address = ""
        self._port = 0
        self._log_path = folder / "runtime.log"
        self._folder = folder
        config = configuration(WORKER / "collect.jsonc")
        self._plan: dict[str, Any] = {
            "config": config,
            "main": str(main or WORKER / config["main"]),
            "root": str(ROOT),
            "folder": str(folder),
            "ai": str(HERE / "collecting_ai.mjs"),
            "harness": str(HERE / "collecting_harness.mjs"),
            "practice": practice_url,
            "scripted": scripted_url,
            "secret": SECRET,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> str:
        """Start, or start again with what the folder holds; the Worker's address, the same as before."""
        node = shutil.which("node")
        if node is None:
            pytest.skip("the collecting Worker runs in miniflare, which needs Node.js")
        self._plan |= {"runtime": str(installed_runtime()), "port": self._port}
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [node, str(HERE / "collecting_runtime.mjs")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
                start_new_session=True,  # so that a kill reaches its child workerd too
                env={"PATH": os.environ.get("PATH", ""), "HOME": str(self._folder), "TMPDIR": str(self._folder)},
            )
        try:
            self.address = str(self._ask(self._plan)["address"])
        except BaseException:
            self.kill()
            raise
        self._port = urlsplit(self.address).port or 0
        return self.address

    def kill(self) -> None:
        """Kill the runtime with SIGKILL, as a power cut would; when this returns, nobody listens on its port."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._forget()
        _wait_until_free(self._port)

    def stop(self) -> None:
        """End the runtime in its own way, or kill it when it does not."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        else:
            self._forget()

    def wake(self) -> tuple[str, ...]:
        """Let instances go on that slept when the runtime was killed; their ids.

        Cloudflare does that by itself, the local runtime does not.
        """
        return tuple(self.order("wake")["woken"])

    def order(self, do: str, **more: Any) -> dict[str, Any]:
        """Have collecting_harness.mjs do something. Raises RuntimeError with its words."""
        return self._ask({"do": do, **more})

    def stored(self, job_id: str) -> list[str]:
        """The keys of what is in the bucket of a job."""
        return [key for key in self.order("listObjects")["keys"] if key.split("/")[1] == job_id]

    @property
    def runtime_process_id(self) -> int:
        """The process id of workerd. Linux only."""
        assert self._process is not None
        (child,) = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text("ascii").split()
        return int(child)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Write a line and read the line that answers it. Raises RuntimeError when there is none."""
        assert self._process is not None and self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        answer: dict[str, Any] = json.loads(self._process.stdout.readline() or b'{"error": "it has ended"}')
        if "error" in answer:
            raise RuntimeError(f"{answer['error']}; the runtime's log ends in: {self._log_end()}")
        return answer

    def _log_end(self) -> str:
        return self._log_path.read_text("utf-8", errors="replace")[-2000:]

    def _forget(self) -> None:
        assert self._process is not None and self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        self._process = None


def configuration(path: Path) -> dict[str, Any]:
    """A file for wrangler, without its comments."""
    without = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*', lambda found: found[1] or "", path.read_text("utf-8"))
    return dict(json.loads(without))


def _wait_until_free(port: int) -> None:
    """workerd is no child of this process: what can be waited for is its port."""
    deadline = time.monotonic() + _STOP_SECONDS
    while port and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except ConnectionRefusedError:
            return
        except OSError:
            continue
