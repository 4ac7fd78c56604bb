#!/usr/bin/env bash
# check.sh BIN judges the code in two lanes, as a judgement of types uses one core. Each lane's words are shown when it
# has ended; all judges are heard, and one that finds something makes the whole fail.
set -uo pipefail

bin=$1
words=$(mktemp -d)
trap 'rm -rf "$words"' EXIT

lane() {
  local failed=0
  for judge in "$@"; do
    echo "$judge" >&2
    # shellcheck disable=SC2086 # the words of a command
    "$bin"/$judge || failed=1
  done
  return $failed
}

lane mypy >"$words/types" 2>&1 &
types=$!
failed=0
lane "ruff check" "ruff format --check" "lint-imports --no-logo" \
  "mypy --platform win32 --cache-dir .mypy_cache/win32 cfbatch_gui" \
  "mypy --platform darwin --cache-dir .mypy_cache/darwin cfbatch_gui" || failed=1
wait $types || failed=1
cat "$words/types"
exit $failed
