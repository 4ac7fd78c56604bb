"""The judges of packages, each run on every build: of desktops, of software centres, of Debian and of RPM systems."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def judge(usr: Path, packages: Sequence[Path]) -> list[str]:
    """Run every judge and print what they say; the names of those that found an error."""
    deb, rpm = packages
    commands: tuple[list[str], ...] = (
        ["desktop-file-validate", *map(str, (usr / "share" / "applications").iterdir())],
        ["appstreamcli", "validate", "--no-net", *map(str, (usr / "share" / "metainfo").iterdir())],
        ["lintian", "--fail-on", "error", "--allow-root", "--tag-display-limit", "0", str(deb)],
        ["rpmlint", "--config", str(_HERE / "rpmlint.toml"), str(rpm)],
    )
    return [command[0] for command in commands if not _accepts(command)]


def _accepts(command: Sequence[str]) -> bool:
    ended = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"{command[0]}: {'no error' if ended.returncode == 0 else 'errors'}")
    if ended.stdout.strip():
        print("\n".join(f"    {line}" for line in ended.stdout.strip().splitlines()), file=sys.stderr)
    return ended.returncode == 0
