#!/usr/bin/env bash
# with-screen.sh COMMAND... runs the command on a screen of its own, so that it sees the same everywhere and takes nobody's
# mouse. Elsewhere than on Linux, where there is no Xvfb, it runs on the screen there is.
set -euo pipefail

if [ "$(uname)" != Linux ]; then exec "$@"; fi

folder=$(mktemp -d)
: >"$folder/number"
Xvfb -displayfd 3 -screen 0 1280x820x24 -nolisten tcp -noreset 3>"$folder/number" >"$folder/log" 2>&1 </dev/null &
screen=$!
trap 'kill "$screen" 2>/dev/null || true; wait "$screen" 2>/dev/null || true; rm -rf "$folder"' EXIT

until read -r number <"$folder/number"; do
  kill -0 "$screen" 2>/dev/null || { cat "$folder/log" >&2; echo "Xvfb did not start." >&2; exit 1; }
  sleep 0.05
done
unset WAYLAND_DISPLAY
DISPLAY=":$number" QT_QPA_PLATFORM=xcb "$@"
