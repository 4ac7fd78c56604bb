#!/usr/bin/env bash
# install-test.sh [ARGS...] puts pipx and uv into an environment of their own, build/install, and has packaging/install_test.py
# install the wheel as people do. Needs the network; --help says what can be chosen.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/system-packages.sh window fonts
scripts/environment.sh test # finds a Python that suits, and says what is missing for one
home=build/install
fingerprint=$(cksum <requirements/install.txt)
if [ "$(cat "$home/.set" 2>/dev/null)" != "$fingerprint" ]; then
  echo "Setting up $home from requirements/install.txt, once." >&2
  .venv/bin/python -m venv --clear "$home"
  "$home/bin/python" -m pip install -qq --disable-pip-version-check --no-input --require-hashes --no-deps -r requirements/install.txt
  echo "$fingerprint" >"$home/.set"
fi
.venv/bin/python packaging/install_test.py --tools "$home/bin" "$@"
