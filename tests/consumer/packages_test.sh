#!/bin/bash
# The Debian packages: three of them, complete, and lintian has nothing to say.
#   packages_test.sh BUILD_FOLDER
# Exit status 77: cpack cannot make packages here.
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v dpkg-deb >/dev/null || { echo 'skipped: no dpkg-deb'; exit 77; }
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cd "$work"
has() {
  local package
  package=$(compgen -G "$1_*.deb")
  grep -q "$2" <<<"$(dpkg-deb --contents "$package")" || { echo "$1 lacks $2"; exit 1; }
}
has stackpack ' ./usr/bin/stackpack$'
has stackpack 'man1/stackpack.1.gz'
has 'libstackpack[0-9]*' '/libstackpack.so.0.[0-9]*.[0-9]*$'
has libstackpack-dev '/libstackpack.so -> '
has libstackpack-dev '/libstackpack.a$'
has libstackpack-dev 'stackpack/c_api.h$'
dpkg-deb --field libstackpack-dev_*.deb Depends | grep -q '^libstackpack0\.[0-9]* (= '
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning ./*.deb
  echo 'lintian is content'
else
  echo 'lintian is not installed: not checked with it'
fi
