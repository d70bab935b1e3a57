#!/bin/bash
# The commands that README.md prints, on a Debian 12 that has nothing else: a system is made in a folder, given
# the committed sources, and says how long each command took, and how much processor time. Needs root and debootstrap.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/lib/setup.sh
source scripts/lib/setup.sh
ensure_packages debootstrap

suite=bookworm
address=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $suite" | sort -u | head -n 1)
system=$(mktemp -d)
clean_up() {
  for folder in dev/pts dev proc; do
    umount "$system/$folder" 2>/dev/null || true
  done
  rm -rf --one-file-system "$system"
}
trap clean_up EXIT

note 'making a system'
quietly "$system.log" debootstrap --variant=minbase "$suite" "$system" "${address:-http://deb.debian.org/debian}"
rm "$system.log"
# Lists of packages and the way to them are this machine's.
cp -rL /etc/apt/. "$system/etc/apt/"
cp -L /etc/resolv.conf /etc/hosts "$system/etc/"
mount -t proc proc "$system/proc"
mount --bind /dev "$system/dev"
mount -t devpts devpts "$system/dev/pts" -o newinstance,ptmxmode=0666
mkdir "$system/stackpack"
git archive HEAD | tar -x -C "$system/stackpack"

mapfile -t commands < <(sed -nE '/^    scripts\/(run convert|test)/s/^ *//p' README.md)
((${#commands[@]} == 2)) || fail 'README.md does not print two commands'
for command in "${commands[@]}"; do
  TIMEFORMAT="$command: %0R s; processor %0U s user, %0S s system"
  time env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$system" /bin/bash -c "cd /stackpack && $command" </dev/null
done
