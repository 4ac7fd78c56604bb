#!/usr/bin/env bash
# test.sh PYTEST ARGS... first runs what needs the screen for itself, one test after the other, then all else on two cores.
set -uo pipefail

alone=0
"$@" -m screen || alone=$?
if [ "$alone" = 5 ]; then alone=0; fi # none of the chosen tests needs the screen
"$@" -n 2 --dist loadgroup -m "not screen"
rest=$?
if [ "$rest" = 5 ]; then rest=0; fi
exit $((alone > rest ? alone : rest))
