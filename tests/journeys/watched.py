"""Run by test_network.py: does something with Python's audit events watched, and writes what was seen.

Arguments: a file for what was seen, what to do ("cfbatch" and its arguments, or "import everything").
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.canary import CORE

LOOK_UPS = (
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
    "socket.getnameinfo",
    "urllib.Request",
    "http.client.connect",
    "ftplib.connect",
    "smtplib.connect",
)
PROCESSES = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.fork", "os.forkpty")
TRIES_IPV6 = ("::1", 0)  # urllib3 does when it is imported, which wordllama brings along; it does not listen

seen: dict[str, list[Any]] = {"connected": [], "looked up": [], "listened": [], "started": [], "told": []}


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        seen["connected"].append(arguments[1])
    elif event in LOOK_UPS:
        seen["looked up"].append([event, *map(str, arguments[:2])])
    elif event == "socket.bind":
        seen["listened"] += [str(arguments[1])] if arguments[1] != TRIES_IPV6 else []
    elif event in PROCESSES:
        seen["started"].append([event, *map(str, arguments[:2])])
    elif event == "os.putenv" and CORE in os.fsdecode(arguments[1]):
        seen["told"].append(os.fsdecode(arguments[0]))


def import_everything() -> int:
    import pkgutil

    import cfbatch_gui

    for module in pkgutil.walk_packages(cfbatch_gui.__path__, "cfbatch_gui."):
        __import__(module.name)
    from cfbatch_gui.core.practice.local_models import choose_model

    return 0 if choose_model().embed(["a text"]).size else 1


def main() -> int:
    out, wish, *arguments = sys.argv[1:]
    sys.addaudithook(watch)
    try:
        if wish == "import everything":
            return import_everything()
        from cfbatch_gui.cli.main import main

        return main(arguments)
    finally:
        Path(out).write_text(json.dumps(seen), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
