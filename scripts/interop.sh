#!/usr/bin/env bash
# interop.sh [ARGS...] puts the packages of requirements/interop.txt into an environment of their own, build/interop, and
# runs the tests that open our exports in them. LibreOffice is used where it is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/environment.sh test # finds a Python that suits, and says what is missing for one
home=build/interop
fingerprint=$(cat pyproject.toml requirements/interop.txt | cksum)
if [ "$(cat "$home/.set" 2>/dev/null)" != "$fingerprint" ]; then
  echo "Setting up $home from requirements/interop.txt; this takes some minutes, once." >&2
  .venv/bin/python -m venv --clear "$home"
  "$home/bin/python" -m pip install -qq --disable-pip-version-check --no-input --require-hashes -r requirements/interop.txt
  "$home/bin/python" -m pip install -qq --disable-pip-version-check --no-input --no-deps --no-build-isolation --editable .
  echo "$fingerprint" >"$home/.set"
fi
# The libraries warn of their own affairs; what they read is what is tested. None may ask a server for anything.
HF_HUB_OFFLINE=1 HF_HOME="$home/hugging-face" QT_QPA_PLATFORM=offscreen "$home/bin/python" -m pytest -W default \
  -m interop tests/interop tests/core "$@"
