"""Look every package pinned in requirements/ up in the public advisories, and write the result to docs/audit.md.

Exit status 0: no package has a known vulnerability; 1: some have, and the page names them; 2: there is no result,
because the advisories could not be asked for every package. The page then stays as it was.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PRODUCT = ("run", "practice", "parquet", "full")  # the sets that users install; the others are for work on the program
CLEAN, VULNERABLE, NO_RESULT = 0, 1, 2
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)")
_MOST_SECONDS = 900  # for all packages of one run


@dataclass(frozen=True, order=True)
class Pin:
    """One package in one version, whatever Python or system it is pinned for."""

    name: str
    version: str


@dataclass(frozen=True, order=True)
class Finding:
    """One advisory for one pin. `fixed` are the versions that do not have it, "" when there are none."""

    pin: Pin
    advisory: str
    aliases: str
    fixed: str


class NoResult(Exception):
    """The advisories could not be asked for every package; the message says why."""


def pins_of(folder: Path) -> dict[Pin, list[str]]:
    """Every pin in a folder of requirements, with the names of the sets that it is in."""
    found: dict[Pin, list[str]] = {}
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text("utf-8").splitlines():
            if (match := _PIN.match(line)) is not None:
                found.setdefault(Pin(match[1].lower(), match[2]), []).append(path.stem)
    return found


def look_up(pins: Iterable[Pin], command: Sequence[str]) -> list[Finding]:
    """Ask for every pin. Raises NoResult.

    pip-audit takes a package in one version a run, so those that are pinned differently for several Pythons take more.
    """
    ordered = sorted(pins)
    runs: list[list[Pin]] = []
    for _, versions in itertools.groupby(ordered, key=lambda pin: pin.name):
        for number, pin in enumerate(versions):
            if number == len(runs):
                runs.append([])
            runs[number].append(pin)
    return sorted(finding for run in runs for finding in _look_up(run, command))


def _look_up(pins: Sequence[Pin], command: Sequence[str]) -> Iterator[Finding]:
    with tempfile.TemporaryDirectory() as folder:
        listed, report = Path(folder, "pins.txt"), Path(folder, "report.json")
        listed.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in pins), "utf-8")
        try:
            ended = subprocess.run(
                [*command, "-r", listed, "-o", report, *("--format", "json", "--no-deps", "--disable-pip")],
                check=False,
                capture_output=True,
                text=True,
                timeout=_MOST_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoResult(str(error)) from error
        try:
            dependencies = json.loads(report.read_text("utf-8"))["dependencies"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            said = ended.stderr.strip().splitlines() or [f"pip-audit ended with status {ended.returncode}"]
            raise NoResult(said[-1]) from error
    yield from _findings(pins, dependencies)


def _findings(pins: Sequence[Pin], dependencies: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """The findings in a report. Raises NoResult unless it has an answer for every pin."""
    answered = {Pin(each["name"].lower(), each["version"]): each for each in dependencies if "vulns" in each}
    skipped = [f"{each['name']}: {each['skip_reason']}" for each in dependencies if "skip_reason" in each]
    if missing := [pin for pin in pins if pin not in answered]:
        first = skipped[0] if skipped else f"{missing[0].name} {missing[0].version} is not in the report"
        raise NoResult(f"{len(missing)} of {len(pins)} packages have no answer. {first}")
    for pin in pins:
        for each in answered[pin]["vulns"]:
            yield Finding(pin, each["id"], ", ".join(each.get("aliases", ())), ", ".join(each["fix_versions"]))


def page(findings: Sequence[Finding], pins: Mapping[Pin, Sequence[str]], *, now: datetime, asked: str) -> str:
    """The text of docs/audit.md. `asked` names the advisories and the program that read them."""
    product = sum(any(name in PRODUCT for name in sets) for sets in pins.values())
    affected = {finding.pin for finding in findings}
    lines = [
        "# Known vulnerabilities of the pinned packages",
        "",
        "Written by `make audit`, which looks every package pinned in `requirements/` up in the public advisories, for",
        "every supported Python and system at once. It is no part of the tests, as it needs the network and its answer",
        "changes from one day to the next.",
        "",
        f"**{now:%-d %B %Y, %H:%M} UTC**, {asked}: {len(pins)} packages were looked up, {product} of them part of the",
        f"program. {len(affected) or 'No'} {'package has' if len(affected) == 1 else 'packages have'} a known"
        " vulnerability.",
    ]
    if findings:
        lines += ["", "| package | advisory | fixed in | used by |", "|---|---|---|---|"]
    for finding in findings:
        names = finding.advisory + (f" ({finding.aliases})" if finding.aliases else "")
        used_by = "the program" if any(name in PRODUCT for name in pins[finding.pin]) else "work on the program"
        lines.append(
            f"| {finding.pin.name} {finding.pin.version} | {names} | {finding.fixed or 'none yet'} | {used_by} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Look up, write the page, and say on standard error what was found."""
    parser = argparse.ArgumentParser(prog="make audit", description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="pip-audit", help="pip-audit")
    parser.add_argument("--service", choices=("pypi", "osv"), default="pypi", help="whose advisories")
    parser.add_argument("--requirements", type=Path, default=ROOT / "requirements", help="the folder with the pins")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "audit.md", help="the page to write")
    chosen = parser.parse_args(arguments)
    command = [chosen.program, "--vulnerability-service", chosen.service, "--progress-spinner", "off"]
    pins = pins_of(chosen.requirements)
    try:
        findings = look_up(pins, command)
        version = subprocess.run(
            [chosen.program, "--version"], check=True, capture_output=True, text=True
        ).stdout.strip()
    except NoResult as error:
        print(f"No result, and {chosen.page.name} stays as it was. {error}", file=sys.stderr)
        return NO_RESULT
    asked = f"{version} with the advisories of {'PyPI' if chosen.service == 'pypi' else 'OSV'}"
    chosen.page.write_text(page(findings, pins, now=datetime.now(UTC), asked=asked), "utf-8")
    for finding in findings:
        print(f"{finding.pin.name} {finding.pin.version}: {finding.advisory}", file=sys.stderr)
    print(f"{len(pins)} packages were looked up, {len(findings)} advisories found.", file=sys.stderr)
    return VULNERABLE if findings else CLEAN


if __name__ == "__main__":
    sys.exit(main())
