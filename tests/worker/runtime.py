"""Cloudflare's runtime workerd, from npm: installed once into build/ and run on loopback ports.

With it comes miniflare, which adds buckets and workflows: collecting_runtime.py runs that.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

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
