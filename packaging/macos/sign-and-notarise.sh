#!/usr/bin/env bash
# sign-and-notarise.sh VERSION ARCHITECTURE makes dist/cfbatch-VERSION-macos-ARCHITECTURE.dmg of "dist/CF Batch.app".
# *Untried here*: it has not run on macOS.
#
# It signs when SIGNING_IDENTITY is set ("Developer ID Application: …", in a keychain that is unlocked), and has the image
# notarised when NOTARY_PROFILE is set too: the name under which “xcrun notarytool store-credentials” has kept the account.
# Without them the image is unsigned, and macOS opens it only after a click on “Open anyway” in its settings.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=$1 architecture=$2
app="dist/CF Batch.app"
image="dist/cfbatch-$version-macos-$architecture.dmg"

if [ -n "${SIGNING_IDENTITY:-}" ]; then
  sign() { codesign --force --timestamp --options runtime --sign "$SIGNING_IDENTITY" "$@"; }
  # From the inside out: a signature covers what is in a bundle as it is then. --deep would pass over libraries.
  while IFS= read -r -d '' library; do sign "$library"; done < <(
    find "$app/Contents" -type f \( -name '*.so' -o -name '*.dylib' \) -print0)
  while IFS= read -r -d '' framework; do sign "$framework"; done < <(
    find "$app/Contents" -type d -name '*.framework' -prune -print0)
  while IFS= read -r -d '' program; do sign --entitlements packaging/macos/entitlements.plist "$program"; done < <(
    find "$app/Contents/MacOS" -type f -perm -u+x -print0)
  sign --entitlements packaging/macos/entitlements.plist "$app"
  codesign --verify --strict --deep "$app"
fi

staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
cp -R "$app" "$staging/"
ln -s /Applications "$staging/Applications"
rm -f "$image"
hdiutil create -volname "CF Batch" -srcfolder "$staging" -fs HFS+ -format UDZO -ov "$image"

if [ -n "${SIGNING_IDENTITY:-}" ]; then
  codesign --force --timestamp --sign "$SIGNING_IDENTITY" "$image"
  if [ -n "${NOTARY_PROFILE:-}" ]; then
    xcrun notarytool submit "$image" --keychain-profile "$NOTARY_PROFILE" --wait
    xcrun stapler staple "$image"
    spctl --assess --type open --context context:primary-signature "$image"
  fi
fi
echo "$image"
