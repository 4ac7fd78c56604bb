#!/usr/bin/env bash
# package.sh SCRIPT [ARGS...] puts the packages of requirements/package.txt into an environment of their own, build/package/venv,
# and runs a script of packaging/ in it.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/environment.sh full # finds a Python that suits, and says what is missing for one
home=build/package/venv
fingerprint=$(cksum <requirements/package.txt)
if [ "$(cat "$home/.set" 2>/dev/null)" != "$fingerprint" ]; then
  echo "Setting up $home from requirements/package.txt; this takes a minute, once." >&2
  .venv/bin/python -m venv --clear "$home"
  install() { "$home/bin/python" -m pip install -qq --disable-pip-version-check --no-input --no-deps "$@"; }
  install --require-hashes -r requirements/package.txt
  install --no-build-isolation --editable .
  echo "$fingerprint" >"$home/.set"
fi
exec "$home/bin/python" "packaging/$1" "${@:2}"
