#!/bin/bash
# Records the profiles of this folder anew, with the programs of others that write them, and stores what those programs'
# own reports say: record.sh [FOLDER]. Takes go, py-spy (and the right to trace processes), node and bpftrace (and root) as far as they are there.
# Files of node and bpftrace are for FOLDER alone: what is stored here is without.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
out=$(realpath "${1:-$here}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if command -v go >/dev/null; then
  cp "$here/../src/profiled.go" "$work"
  (cd "$work" && go build -trimpath -o profiled profiled.go)
  "$work/profiled" "$out" >/dev/null
  rm "$out/go.threadcreate.pprof"
  for entry in cpu:cpu:ns heap:inuse_space:B heap:alloc_objects: mutex:delay:ns block:delay:ns goroutine:goroutine:; do
    IFS=: read -r name type unit <<<"$entry"
    go tool pprof -top -nodecount=1000000 -nodefraction=0 -edgefraction=0 -sample_index="$type" ${unit:+-unit=$unit} \
      "$out/go.$name.pprof" >"$out/go.$name.$type.top.txt" 2>/dev/null
  done
fi

if command -v py-spy >/dev/null; then
  cp "$here/../src/profiled.py" "$work"
  for format in raw speedscope; do
    (cd "$work" && py-spy record -r 200 -d 1 -f "$format" -o "$out/pyspy.$format" -- python3 profiled.py) >/dev/null 2>&1
  done
fi

if [[ $out != "$here" ]] && command -v node >/dev/null; then
  cp "$here/../src/profiled.js" "$work"
  (cd "$work" && node --cpu-prof --cpu-prof-name node.cpuprofile --heap-prof --heap-prof-interval 4096 --heap-prof-name node.heapprofile profiled.js)
  mv "$work/node.cpuprofile" "$work/node.heapprofile" "$out"
fi

if [[ $out != "$here" && $EUID == 0 ]] && command -v bpftrace >/dev/null && [[ -x $work/profiled ]]; then
  mkdir "$work/traced"
  BPFTRACE_CACHE_USER_SYMBOLS=1 timeout 60 bpftrace -q -e 'profile:hz:199 /pid == cpid/ { @[ustack] = count(); }' -c "$work/profiled $work/traced" \
    >"$work/bpftrace.txt" 2>/dev/null && mv "$work/bpftrace.txt" "$out" || echo "bpftrace cannot trace here"
fi
