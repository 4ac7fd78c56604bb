#!/usr/bin/env bash
# environment.sh SET puts the packages of requirements/SET.txt, checked against their hashes, and the project itself into
# .venv. Does nothing when they are there already; starts again when the requirements or pyproject.toml have changed.
set -euo pipefail
cd "$(dirname "$0")/.."

set=$1
case $set in # the sets that hold this one
  full) holders="full test check" ;;
  test) holders="test check" ;;
  *) holders=$set ;;
esac

suits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; }
fingerprint() { cat pyproject.toml "requirements/$1.txt" | cksum; }

if suits .venv/bin/python; then
  for holder in $holders; do
    if [ "$(cat ".venv/.set-$holder" 2>/dev/null)" = "$(fingerprint "$holder")" ]; then exit 0; fi
  done
fi

find_python() {
  for python in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
    if suits "$python"; then return; fi
  done
  return 1
}
can_install() { "$python" -c 'import ensurepip' 2>/dev/null || "$python" -m pip --version >/dev/null 2>&1; }

if ! find_python || ! can_install; then
  scripts/system-packages.sh python
  find_python || { echo "CF Batch needs Python 3.11, 3.12 or 3.13, and none was found." >&2; exit 1; }
fi

echo "Setting up .venv from requirements/$set.txt; this takes a minute or two, once." >&2
if ! suits .venv/bin/python; then
  # Without ensurepip (Debian's python3 alone) the environment is filled by the pip outside it.
  if "$python" -c 'import ensurepip' 2>/dev/null; then pip=""; else pip=--without-pip; fi
  "$python" -m venv --clear $pip .venv
fi

install() {
  if .venv/bin/python -c 'import pip' 2>/dev/null; then
    set -- .venv/bin/python -m pip install "$@"
  else
    set -- "$python" -m pip --python .venv/bin/python install "$@"
  fi
  "$@" -qq --disable-pip-version-check --no-input --no-warn-script-location </dev/null
}
rm -f .venv/.set-*
# The set is whole, so nothing has to be resolved again.
install --require-hashes --no-deps --no-compile -r "requirements/$set.txt"
install --no-deps --no-build-isolation --editable .
# Compiled on all cores, so that no page of the window waits for it; tools compile what they come to use. Templates fail.
.venv/bin/python -m compileall -qq -j 0 -x '/(cloudflare|mypy|mypyc|pip|pygments|setuptools)/' .venv/lib || true
fingerprint "$set" >".venv/.set-$set"
