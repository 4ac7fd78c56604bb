#!/usr/bin/env bash
# system-packages.sh SET... installs what is missing of these sets of Debian packages. Only root can; anybody else is
# told the one command. Does nothing on a system without dpkg.
set -euo pipefail

python="python3 python3-venv"
window="libgl1 libegl1 libdbus-1-3 libfontconfig1 libglib2.0-0 libxkbcommon0 libxkbcommon-x11-0 libxcb-cursor0 \
libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxcb-xkb1"
fonts="fonts-inter fonts-noto-core fonts-noto-cjk"
screen="xvfb"
tests="xdotool dbus at-spi2-core gnome-keyring dunst curl strace desktop-file-utils appstream libglib2.0-bin xdg-utils \
shared-mime-info"
packages="python3-dev libwayland-cursor0 libwayland-egl1 libxcb-glx0 libgssapi-krb5-2 libbrotli1 \
binutils patchelf dpkg-dev zstd desktop-file-utils appstream lintian rpm rpmlint"
bare="debootstrap xdotool"

command -v dpkg-query >/dev/null || exit 0

# One at a time: whoever has waited finds the packages there.
if [ "$(id -u)" = 0 ]; then
  exec 9<"$0"
  flock 9
fi

# A package counts as there when another provides it: some libraries have a new name in later releases.
there=" $(dpkg-query -W -f='${db:Status-Abbrev} ${Package}, ${Provides}\n' |
  sed -n -E 's/^.i. //; T; s/ *\([^)]*\)//g; s/,//g; p' | tr '\n' ' ')"
missing=""
for set in "$@"; do
  for package in ${!set}; do
    case $there in *" $package "*) ;; *) missing="$missing $package" ;; esac
  done
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
  printf 'Some system packages are missing. Please type this once, then try again:\n\n' >&2
  printf '  sudo apt-get install --no-install-recommends%s\n\n' "$missing" >&2
  exit 1
fi

echo "Installing system packages:$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  # shellcheck disable=SC2086 # the names are words
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing </dev/null >"$log" 2>&1 9<&-
}
# The lists are fetched only when they are absent, or too old to name what is there to download.
if ! install && ! { apt-get update </dev/null >"$log" 2>&1 9<&- && install; }; then
  cat "$log" >&2
  echo "The system packages could not be installed; apt's own words stand above." >&2
  exit 1
fi
