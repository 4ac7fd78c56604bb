#!/usr/bin/env bash
# system-packages.sh SET... installs what is missing of these sets of Debian packages. Only root can; anybody else is
# told the one command. Does nothing on a system without dpkg.
set -euo pipefail

python="python3 python3-venv"
window="libgl1 libegl1 libdbus-1-3 libfontconfig1 libglib2.0-0 libxkbcommon0 libxkbcommon-x11-0 libxcb-cursor0 \
libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxcb-xkb1"
fonts="fonts-inter fonts-noto-core fonts-noto-cjk"
screen="xvfb"
packages="python3-dev libwayland-cursor0 libwayland-egl1 libxcb-glx0 libgssapi-krb5-2 libbrotli1 \
binutils patchelf dpkg-dev zstd desktop-file-utils appstream lintian rpmlint"
bare="debootstrap xdotool"
