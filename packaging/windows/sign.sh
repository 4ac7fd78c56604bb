#!/usr/bin/env bash
# sign.sh FILE... signs programs with the certificate in CERTIFICATE (a .pfx in base64) and its PASSWORD.
# *Untried here*: it has not run on Windows (in the bash of Git).
set -euo pipefail
: "${CERTIFICATE:?}" "${PASSWORD:?}"

kits="/c/Program Files (x86)/Windows Kits/10/bin"
signtool=$(find "$kits" -path '*/x64/signtool.exe' | sort -V | tail -n 1)
[ -n "$signtool" ] || { echo "There is no signtool.exe below $kits." >&2; exit 1; }

certificate=$(mktemp --suffix=.pfx)
trap 'rm -f "$certificate"' EXIT
base64 --decode <<<"$CERTIFICATE" >"$certificate"
export MSYS2_ARG_CONV_EXCL="*" # or /f would be taken for a path
"$signtool" sign /f "$(cygpath -w "$certificate")" /p "$PASSWORD" /fd SHA256 /tr http://timestamp.digicert.com /td SHA256 \
  "${@//\//\\}"
