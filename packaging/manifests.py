"""The manifests for winget and Homebrew, filled in from a version and a file of checksums.

    python packaging/manifests.py 0.1.0 dist/SHA256SUMS OUT

*Untried here*: no store has taken them yet.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WINDOWS = "cfbatch-{version}-windows-x86_64.exe"
MACOS = "cfbatch-{version}-macos-{architecture}.dmg"


def read_sums(text: str) -> dict[str, str]:
    """The checksum of each name in a file as sha256sum writes it. Raises ValueError for a line that is none."""
    found = {}
    for line in text.splitlines():
        match = re.fullmatch(r"([0-9a-f]{64})[ *]{2}(.+)", line)
        if match is None:
            raise ValueError(f"no checksum: {line}")
        found[Path(match[2]).name] = match[1]
    return found


def filled(version: str, sums: dict[str, str]) -> dict[str, str]:
    """The text of each manifest by its name. Raises KeyError for a file that has no checksum."""
    values = {
        "@VERSION@": version,
        "@WINDOWS@": sums[WINDOWS.format(version=version)].upper(),
        "@MACOS_ARM64@": sums[MACOS.format(version=version, architecture="arm64")],
        "@MACOS_X86_64@": sums[MACOS.format(version=version, architecture="x86_64")],
    }
    names = {path: path.name for path in (HERE / "homebrew").glob("*.rb")}
    for path in (HERE / "winget").glob("*.yaml"):
        part = "" if path.stem == "version" else f"{path.stem}."
        names[path] = f"CFBatch.CFBatch.{part}yaml"
    texts = {}
    for path, name in sorted(names.items()):
        text = path.read_text("utf-8")
        for mark, value in values.items():
            text = text.replace(mark, value)
        texts[name] = text
    return texts


def main(version: str, sums: str, out: str) -> int:
    """Write all of them; the exit status."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in filled(version, read_sums(Path(sums).read_text("utf-8"))).items():
        (folder / name).write_text(text, "utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
