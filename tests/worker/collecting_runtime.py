"""The Worker with its collecting room on a loopback port: workerd with miniflare's bucket and workflow.

What it stores and how far its instances are is kept in a folder, from which another runtime can go on after a kill.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import pytest

from tests.worker.runtime import HERE, ROOT, SECRET, installed_runtime

WORKER = ROOT / "resources" / "worker"
_STOP_SECONDS = 240.0


class CollectingRuntime:
    """One runtime in a process group of its own, started by `start` or a `with` block.

    `practice_url` is the practice service behind the AI binding, as its `url` (ends in /client/v4); `scripted_url`
    answers for the models @cf/scripted/…. It takes a free port, which later starts take again. `main` is the module
    that is run, the one of collect.jsonc unless another wraps it. Skips the test when it cannot be installed here.
    """

    def __init__(
        self,
        practice_url: str,
        folder: Path,
        *,
        scripted_url: str = "",
        main: Path | None = None,
    ) -> None:
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
