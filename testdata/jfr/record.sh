#!/bin/bash
# Records java.jfr.gz and async.jfr.gz anew, under /tmp/stackpack, and writes what `jfr print` finds in
# them. Needs a JDK and, as its argument, libasyncProfiler.so of async-profiler.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
profiler=$(realpath "$1")
rm -rf /tmp/stackpack && mkdir -p /tmp/stackpack && cd /tmp/stackpack
cp "$profiler" libasyncProfiler.so
javac -d . "$here/../src/Small.java"
run=(env -i PATH=/usr/bin:/bin HOME=/tmp/stackpack java -Duser.home=/tmp/stackpack -cp /tmp/stackpack)
"${run[@]}" -XX:StartFlightRecording=filename=/tmp/stackpack/java.jfr,settings="$here/small.jfc" Small
"${run[@]}" -agentpath:/tmp/stackpack/libasyncProfiler.so=start,event=itimer,interval=5ms,alloc=256k,lock=1ms,wall=50ms,jfr,file=/tmp/stackpack/async.jfr Small
for name in java async; do
  gzip -9 -n -c $name.jfr > "$here/$name.jfr.gz"
  jfr print --json --stack-depth 10000 $name.jfr | python3 "$here/printed_stacks.py" > "$here/$name.stacks.txt"
done
