#!/bin/sh
# Makes testdata/unwind/stepped* again: programs for AArch64, without and with authenticated return
# addresses, and what qemu shows of them instruction by instruction. Needs qemu-user and
# gcc-aarch64-linux-gnu. Which words are signed, and with what, changes from run to run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/unwind"
for kind in none:stepped pac-ret:stepped-signed; do
  name=${kind#*:}
  aarch64-linux-gnu-gcc -std=gnu11 -O2 -fno-stack-protector -fasynchronous-unwind-tables -ffreestanding \
    -nostdlib -static -fno-pic -no-pie -s -Wl,--eh-frame-hdr -Wl,--build-id -Wl,-z,max-page-size=4096 \
    "-mbranch-protection=${kind%:*}" ../../tests/differential/stepped_program.c -o "$name"
  python3 ../../tests/differential/stepped_recorder.py "$name.data" "$name" \
    --samples 120 --every 60 --dump 1024 --name "/home/user/$name"
done
