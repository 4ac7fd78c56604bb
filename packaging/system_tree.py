"""The files of an installed program below /usr: its folder, its commands, and what a desktop and a manual need."""

import gzip
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from icon import render_icon
from licences import Part, copy_texts

ROOT = Path(__file__).resolve().parents[1]
NAME = "cfbatch"
PROGRAMS = {"cfbatch": "rank and embed texts in the terminal", "cfbatch-gui": "rank and embed texts in a window"}
MAINTAINER = "CF Batch contributors <cfbatch@cfbatch.github.io>"
_OF_THE_DESKTOP = {"*.desktop": "applications", "*.metainfo.xml": "metainfo", "*-mime.xml": "mime/packages"}
_ICON_SIZES = (48, 128, 256)  # pixels


@dataclass(frozen=True)
class Release:
    """What is said of a build. `epoch`, in seconds, is its date; `parts` is what others made, and `bill` lists it."""

    version: str
    epoch: int
    parts: Sequence[Part]
    bill: str


def write_tree(program: Path, usr: Path, release: Release) -> None:
    """Put everything below `usr`; `program` is the trimmed folder."""
    shutil.copytree(program, usr / "lib" / NAME, symlinks=True)
    (usr / "bin").mkdir()
    for name in PROGRAMS:
        (usr / "bin" / name).symlink_to(f"../lib/{NAME}/{name}")
    share = usr / "share"
    for pattern, folder in _OF_THE_DESKTOP.items():
        for path in (ROOT / "packaging").glob(pattern):
            _copy(path, share / folder / path.name)
    _write_icons(share / "icons" / "hicolor")
    documents = share / "doc" / NAME
    copy_texts(release.parts, documents / "licences")
    (documents / "copyright").write_text(copyright_file(release.parts), "utf-8")
    (documents / "bill-of-materials.cdx.json").write_text(release.bill, "utf-8")
    _compress(debian_changelog(release), documents / "changelog.gz")
    for name, purpose in PROGRAMS.items():
        command = [str(program / name), "--help"]
        said = subprocess.run(command, env={"COLUMNS": "80"}, check=True, capture_output=True, text=True).stdout
        page = share / "man" / "man1" / f"{name}.1.gz"
        page.parent.mkdir(parents=True, exist_ok=True)
        _compress(manual_page(name, purpose, said, release), page)


def copyright_file(parts: Sequence[Part]) -> str:
    """The licence of the program, and by name those of what is inside it."""
    own = (ROOT / "LICENSE").read_text("utf-8").strip()
    inside = "\n".join(f"  {part.name} {part.version}: {part.licence or 'see its text'}" for part in parts)
    return (
        f"CF Batch:\n\n{own}\n\n"
        "Its icons are Lucide's (ISC and MIT), see the file resources/icons/LICENSE in its folder.\n\n"
        f"What others made and is inside, with the texts of their licences in /usr/share/doc/{NAME}/licences.\n"
        "Qt and PySide6 are used under the LGPL-3 (/usr/share/common-licenses/LGPL-3 on Debian). They are separate\n"
        f"libraries in /usr/lib/{NAME}/_internal/PySide6, which may be replaced by others with the same interface.\n\n"
        f"{inside}\n"
    )


def debian_changelog(release: Release) -> str:
    """The changelog as Debian writes it; what changed for users stands in the program's own."""
    date = datetime.fromtimestamp(release.epoch, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
    head = f"{NAME} ({release.version}) unstable; urgency=medium"
    return f"{head}\n\n  * Version {release.version}.\n\n -- {MAINTAINER}  {date}\n"


def manual_page(name: str, purpose: str, said: str, release: Release) -> str:
    """A page of the manual out of what a command says of itself for --help."""
    date = datetime.fromtimestamp(release.epoch, UTC).strftime("%Y-%m-%d")
    text = re.sub(r"^(?=[.'])", r"\\&", said.replace("\\", r"\e").replace("-", r"\-"), flags=re.MULTILINE)
    return (
        f'.TH {name.upper()} 1 {date} "CF Batch {release.version}"\n.SH NAME\n{name} \\- {purpose}\n'
        f".SH DESCRIPTION\n.nf\n{text.strip()}\n.fi\n"
    )


def _write_icons(theme: Path) -> None:
    drawing = ROOT / "resources" / "cfbatch.svg"
    _copy(drawing, theme / "scalable" / "apps" / "cfbatch.svg")
    for size in _ICON_SIZES:
        picture = theme / f"{size}x{size}" / "apps" / "cfbatch.png"
        picture.parent.mkdir(parents=True)
        render_icon(drawing, picture, size)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _compress(text: str, out: Path) -> None:
    out.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
