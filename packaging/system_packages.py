"""The .deb and the .rpm of the files below /usr, by nfpm, and what of the system they need."""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from licences import Part
from system_tree import MAINTAINER, NAME, Release
from trim import compiled_files, needed_by

_HOME = "https://github.com/cfbatch/CFBatch"
_DESCRIPTION = """Rank and embed texts with Cloudflare's Workers AI Batch API
 Open a spreadsheet, choose which column holds the query and which the texts,
 and get a ranked list, or one vector for each text. A window and a terminal
 program; a practice service on the own computer needs no account."""
# Fonts, without which the window shows boxes for letters. One for Latin must be there; Noto has what the others lack.
_LATIN_FONTS = (
    "fonts-dejavu-core | fonts-noto-core | fonts-inter | fonts-liberation | fonts-liberation2 | fonts-freefont-ttf"
)
_DEB_ALSO = ("ca-certificates", "fontconfig", _LATIN_FONTS)
_DEB_RECOMMENDED = (
    "fonts-noto-core",  # Arabic, and most other scripts
    "fonts-noto-cjk",
    "gnome-keyring | kwalletmanager | keepassxc",  # where the token is kept
    "xdg-utils",  # opens links and folders
    "shared-mime-info",  # types of files
)
_RPM_ALSO = ("ca-certificates", "fontconfig")  # which brings a font for Latin on Fedora
_RPM_RECOMMENDED = (
    *("google-noto-sans-fonts", "google-noto-sans-arabic-fonts", "google-noto-sans-cjk-fonts"),
    *("gnome-keyring", "xdg-utils"),
)
# Debian's symbols ask for the newest libx11-xcb1 whatever is used of it; Qt's wheels were built with an older one.
_TOO_NEW = re.compile(r"\b(libx11-xcb1) \([^)]*\)")
_RENAMED = re.compile(r"\b(libglib2\.0-0|libssl3)( \([^)]*\))?(?=,|$)")  # in Debian 13 and Ubuntu 24.04


def write_packages(usr: Path, out: Path, release: Release, environment: Mapping[str, str]) -> list[Path]:
    """Write both packages into the folder `out`; their paths."""
    program = usr / "lib" / NAME
    nfpm = Path(sys.executable).with_name("nfpm")
    config = configuration(usr, debian_needs(program, release.parts), rpm_needs(program), release)
    written = [out / f"{NAME}_{release.version}_amd64.deb", out / f"{NAME}-{release.version}-1.x86_64.rpm"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "nfpm.yaml")
        path.write_text(json.dumps(config), "utf-8")  # YAML holds all of JSON
        for package in written:
            command = [str(nfpm), "package", "--config", str(path)]
            command += ["--packager", package.suffix[1:], "--target", str(package)]
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return written


def configuration(usr: Path, debian: Sequence[str], rpm: Sequence[str], release: Release) -> dict[str, Any]:
    """What nfpm is told."""
    overrides = Path(__file__).resolve().parent / "lintian-overrides"
    return {
        "name": NAME,
        "arch": "amd64",
        "platform": "linux",
        "version": release.version,
        "section": "science",
        "priority": "optional",
        "maintainer": MAINTAINER,
        "description": _DESCRIPTION,
        "homepage": _HOME,
        "license": "MIT",
        "mtime": datetime.fromtimestamp(release.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "contents": [
            {"src": str(usr), "dst": "/usr", "type": "tree"},
            {
                "src": str(overrides),
                "dst": f"/usr/share/lintian/overrides/{NAME}",
                "packager": "deb",
                "file_info": {"mode": 0o644},
            },
        ],
        "overrides": {
            "deb": {"depends": [*debian, *_DEB_ALSO], "recommends": list(_DEB_RECOMMENDED)},
            "rpm": {"depends": [*rpm, *_RPM_ALSO], "recommends": list(_RPM_RECOMMENDED)},
        },
        "deb": {"compression": "zstd"},
        "rpm": {
            "compression": "zstd",
            "group": "Productivity/Scientific/Other",
            "summary": _DESCRIPTION.partition("\n")[0],
            "buildhost": "localhost",
        },
    }


def debian_needs(program: Path, parts: Sequence[Part]) -> list[str]:
    """The packages, with versions, that the compiled files need of the system, as dpkg-shlibdeps finds them."""
    inside = [f"-x{part.name}" for part in parts if part.purl.startswith("pkg:deb/")]
    files = [*compiled_files(program), program / "cfbatch", program / "cfbatch-gui"]
    own = sorted({f"-l{path.parent}" for path in files})
    with tempfile.TemporaryDirectory() as folder:
        control = Path(folder, "debian", "control")
        control.parent.mkdir()
        control.write_text(f"Source: {NAME}\n\nPackage: {NAME}\nArchitecture: amd64\n", "utf-8")
        command = ["dpkg-shlibdeps", "-O", "--ignore-missing-info", "--warnings=0", *inside, *own, *map(str, files)]
        said = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return with_new_names(said.partition("Depends=")[2].strip())


def with_new_names(needs: str) -> list[str]:
    """A list of Depends, in which packages that have another name in later releases are asked for by both."""
    each = [_TOO_NEW.sub(r"\1", need.strip()) for need in needs.split(",")]
    return sorted(_RENAMED.sub(lambda found: f"{found[0]} | {found[1]}t64{found[2] or ''}", need) for need in each)


def rpm_needs(program: Path) -> list[str]:
    """The libraries that the compiled files need and that are not among them, as all RPM systems name them."""
    files = [*compiled_files(program), program / "cfbatch", program / "cfbatch-gui"]
    inside = {path.name for path in program.rglob("*.so*")}
    return sorted(f"{name}()(64bit)" for name in {name for path in files for name in needed_by(path)} - inside)
