#!/usr/bin/env bash
# Opens the window on the practice service with the example loaded; without a display, runs the same example in the terminal.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(uname)" = Linux ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  scripts/environment.sh full
  echo "There is no display here, so the example runs in this terminal instead of in the window." >&2
  exec .venv/bin/cfbatch run resources/examples/help-centre-ranking.csv --rank --connection practice --out ranked.csv
fi

# A desktop has fonts of its own, and they are its user's choice.
fonts=$(find -L /usr/share/fonts /usr/local/share/fonts ~/.local/share/fonts ~/.fonts -name '*.[ot]t[fc]' -print -quit 2>/dev/null || true)
if [ -n "$fonts" ]; then scripts/system-packages.sh window; else scripts/system-packages.sh window fonts; fi
scripts/environment.sh full
exec .venv/bin/cfbatch-gui --example
