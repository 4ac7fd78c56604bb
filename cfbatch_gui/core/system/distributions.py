"""Distributions of Linux: which one this is, and the one command that installs packages there."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from cfbatch_gui.core.messages import message

OS_RELEASE: Final = (Path("/etc/os-release"), Path("/usr/lib/os-release"))


class Installer(StrEnum):
    """The program that installs packages, with the words before their names."""

    APT = "apt-get install"  # Debian, Ubuntu
    DNF = "dnf install"  # Fedora, Red Hat
    ZYPPER = "zypper install"  # openSUSE, SUSE
    PACMAN = "pacman -S"  # Arch
    APK = "apk add"  # Alpine


_OF_DISTRIBUTION: Final = {
    **dict.fromkeys(("debian", "ubuntu", "raspbian"), Installer.APT),
    **dict.fromkeys(("fedora", "rhel", "centos"), Installer.DNF),
    **dict.fromkeys(("suse", "opensuse", "sles"), Installer.ZYPPER),
    "arch": Installer.PACMAN,
    "alpine": Installer.APK,
}


def this_distribution(paths: Sequence[Path] = OS_RELEASE) -> dict[str, str]:
    """What os-release(5) says of this system; {} where there is no such file, as on Windows and macOS."""
    for path in paths:
        try:
            text = path.read_text("utf-8", "replace")
        except OSError:
            continue
        found = {}
        for line in text.splitlines():
            name, sign, value = line.partition("=")
            if sign and not name.startswith("#"):
                try:
                    found[name.strip()] = " ".join(shlex.split(value))
                except ValueError:  # a quotation mark too many
                    found[name.strip()] = value
        return found
    return {}


def installer_of(distribution: Mapping[str, str]) -> Installer | None:
    """By ID, or what the distribution says that it is like; None for one that is not known here."""
    for name in (distribution.get("ID", ""), *distribution.get("ID_LIKE", "").split()):
        if (found := _OF_DISTRIBUTION.get(name.lower().partition("-")[0])) is not None:
            return found
    return None


def way_to_install(
    packages: Callable[[Installer], Sequence[str]], distribution: Mapping[str, str], *, otherwise: str
) -> str:
    """The one command that installs these packages, in a sentence; `otherwise` where the distribution is not known."""
    installer = installer_of(distribution)
    if installer is None:
        return otherwise
    command = f"sudo {installer} {shlex.join(dict.fromkeys(packages(installer)))}"
    return message("Type this into a terminal, and start again: {command}", command=command)


# The fonts that Debian and others call by these names.
_FONTS: Final[Mapping[str, Mapping[Installer, str]]] = {
    "noto": {
        Installer.APT: "fonts-noto-core",
        Installer.DNF: "google-noto-sans-fonts",
        Installer.ZYPPER: "google-noto-sans-fonts",
        Installer.PACMAN: "noto-fonts",
        Installer.APK: "font-noto",
    },
    "noto-cjk": {
        Installer.APT: "fonts-noto-cjk",
        Installer.DNF: "google-noto-sans-cjk-fonts",
        Installer.ZYPPER: "google-noto-sans-cjk-fonts",
        Installer.PACMAN: "noto-fonts-cjk",
        Installer.APK: "font-noto-cjk",
    },
}


def way_to_fonts(fonts: Sequence[str], distribution: Mapping[str, str]) -> str:
    """A sentence that says how to get fonts ("noto", "noto-cjk")."""
    return way_to_install(
        lambda installer: [_FONTS[font][installer] for font in fonts],
        distribution,
        otherwise=message("Install fonts for these scripts, such as Noto."),
    )


def way_to_certificates(distribution: Mapping[str, str]) -> str:
    """A sentence that says how to get the certificates that connections are checked by."""
    package = "ca-certificates"  # so called everywhere
    return way_to_install(
        lambda _: [package], distribution, otherwise=message("Install the package “{package}”.", package=package)
    )
