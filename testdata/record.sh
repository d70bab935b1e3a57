#!/bin/bash
# Records the captures of this folder anew, under /tmp/stackpack, in namespaces of its own: no other
# process and no host name gets into them. Needs root, perf and a C compiler.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" != inside ]; then
  rm -rf /tmp/stackpack && mkdir -p /tmp/stackpack
  gcc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -mno-omit-leaf-frame-pointer -pthread \
    -o /tmp/stackpack/frames "$here/src/frames.c"
  cp "$0" /tmp/stackpack/record.sh
  unshare --uts --pid --fork --mount-proc env -i PATH=/usr/bin:/bin HOME=/tmp/stackpack \
    bash /tmp/stackpack/record.sh inside
  rm -rf "$here"/*.perf.data "$here"/*.script.txt "$here"/*.chains.txt
  cp -r /tmp/stackpack/*.perf.data "$here/"
  cp /tmp/stackpack/*.script.txt /tmp/stackpack/*.chains.txt "$here/"
  chmod -R u=rwX,go=rX "$here"/*.perf.data
  exit
fi
cd /tmp/stackpack
hostname stackpack-test
record="perf record -q -N -e cpu-clock -g"
$record -F 997 --sample-cpu -o file.perf.data ./frames 2 200
$record -F 997 -z --sample-cpu -o zstd.perf.data ./frames 2 200
$record -F 997 -o - ./frames 1 150 > pipe.perf.data
$record -F 499 -z -o - ./frames 1 100 > zstd-pipe.perf.data
$record -F 997 --threads -o threads.perf.data ./frames 2 150
perf record -q -N --sample-cpu -F 997 -e cpu-clock,page-faults,context-switches -g \
  -o events.perf.data ./frames 2 60
perf record -q -N --sample-cpu -P -e '{cpu-clock,page-faults}:S' -F 997 -g -o group.perf.data ./frames 1 80
perf record -q -N -e cpu-clock -F 499 --call-graph dwarf,256 -o dwarf.perf.data ./frames 1 80
perf record -q -N --sample-cpu -e cpu-clock -F 997 -k mono -o no-chains.perf.data ./frames 1 80
# Killed in the middle: the header still says that there are no data.
$record -F 997 --no-buffering -o killed.perf.data ./frames 1 1000 & recorder=$!
sleep 0.4
kill -9 $recorder
wait $recorder 2> /dev/null || true
# A small one for the tests that cut it at every byte.
$record -F 299 -o tiny.perf.data ./frames 1 40
$record -F 299 -o - ./frames 1 40 > tiny-pipe.perf.data
$record -F 299 -z -o - ./frames 1 40 > tiny-zstd.perf.data
# What perf itself finds in the records: one line for each sample and one for each entry of its chain.
for name in file zstd pipe threads events group; do
  perf script -D -i $name.perf.data 2> /dev/null | awk '
    /PERF_RECORD_SAMPLE/ { sub(/^.*PERF_RECORD_SAMPLE/, "SAMPLE"); print }
    /^\.\.\.\.\. +[0-9]+: [0-9a-f]+$/ { print "  " $3 }' > $name.chains.txt
done
for name in file zstd events group no-chains; do
  perf script --ns -F comm,pid,tid,cpu,time,event,period,ip -i $name.perf.data > $name.script.txt
done
for name in pipe threads tiny; do  # these have no CPU field
  perf script --ns -F comm,pid,tid,time,event,period,ip -i $name.perf.data > $name.script.txt
done
