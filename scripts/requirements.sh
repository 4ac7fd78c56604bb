#!/usr/bin/env bash
# requirements.sh [--upgrade] writes requirements/*.txt from pyproject.toml: each a whole set, pinned with hashes, for every
# supported Python and system at once. Versions already written are kept unless --upgrade is given.
set -euo pipefail
cd "$(dirname "$0")/.."

write() {
  local name=$1
  shift
  .venv/bin/uv pip compile pyproject.toml "$@" --output-file "requirements/$name.txt" --universal --python-version 3.11 \
    --generate-hashes --quiet --custom-compile-command "make requirements"
}

write check --all-extras --group check "$@"
# The others take their versions from the widest set, so that they never disagree.
narrow=(--constraint requirements/check.txt --upgrade)
write test --all-extras --group test "${narrow[@]}"
write interop --all-extras --group interop "${narrow[@]}"
write full --all-extras --group build "${narrow[@]}"
write package --all-extras --group package "${narrow[@]}"
write run --group build "${narrow[@]}"
# Of no other set: they only look at them, or install the program elsewhere.
for group in audit install; do
  .venv/bin/uv pip compile --group "$group" --output-file "requirements/$group.txt" --universal --python-version 3.11 \
    --generate-hashes --quiet --custom-compile-command "make requirements" "$@"
done
for extra in practice parquet; do
  write "$extra" --extra "$extra" --group build "${narrow[@]}"
done
