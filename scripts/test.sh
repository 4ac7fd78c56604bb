#!/usr/bin/env bash
# test.sh PYTEST ARGS... runs tests in three processes, so that two cores have work while one waits; tests/conftest.py
# says which tests stay together.
set -uo pipefail

# Ledgers are written through to the disk with every change: memory spares the disk that, and the tests the wait.
if [ -w /dev/shm ] && [ "$(df -k --output=avail /dev/shm 2>/dev/null | tail -1)" -gt 4000000 ]; then
  TMPDIR=$(mktemp -d /dev/shm/cfbatch-tests-XXXXXX)
  chmod 711 "$TMPDIR" # tests with another user's processes give them paths in it
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
fi
export OPENBLAS_NUM_THREADS=1 # the processes share the cores already; more threads would only wait for each other
export MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072 # each thread's own heap keeps what it has freed: 240 MB a process
"$1" -n 3 --dist loadscope -m "not interop" "${@:2}"
