#!/bin/sh
# Records a busy machine: bench/record.sh OUT.perf.data [SECONDS] [HZ]
#
# Loads all processors with a program of many deep callstacks (bench/load/busy.cc, built with frame
# pointers) and records every processor by its clock. 24
# seconds at 20,000 Hz on two processors gave 450 MB. Needs Debian's linux-perf and the right
# to record system-wide (root, or kernel.perf_event_paranoid <= -1).
set -eu
out=${1:?"usage: bench/record.sh OUT.perf.data [SECONDS] [HZ]"}
seconds=${2:-24}
hz=${3:-20000}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
c++ -O1 -std=c++20 -pthread -fno-omit-frame-pointer -fno-optimize-sibling-calls \
  -o "$work/busy" "$here/load/busy.cc"
"$work/busy" "$seconds" "$(nproc)" 1 &
busy=$!
perf record -q -e cpu-clock -F "$hz" -g -a -m 1024 -o "$out" -- sleep "$seconds"
wait "$busy" || true
ls -l "$out" >&2
