#!/usr/bin/env bash
# audit.sh [ARGS...] puts pip-audit into an environment of its own, build/audit, and has packaging/audit.py look every pinned
# package up in the public advisories. Needs the network; --help says what can be chosen.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/environment.sh test # finds a Python that suits, and says what is missing for one
home=build/audit
fingerprint=$(cksum <requirements/audit.txt)
if [ "$(cat "$home/.set" 2>/dev/null)" != "$fingerprint" ]; then
  echo "Setting up $home from requirements/audit.txt, once." >&2
  .venv/bin/python -m venv --clear "$home"
  "$home/bin/python" -m pip install -qq --disable-pip-version-check --no-input --require-hashes --no-deps -r requirements/audit.txt
  echo "$fingerprint" >"$home/.set"
fi
.venv/bin/python packaging/audit.py --program "$home/bin/pip-audit" "$@"
