#!/bin/bash
# Records the profiles of this folder anew, with the programs of others that write them, and stores what those programs'
# own reports say: record.sh [FOLDER]. Needs go and, for py-spy's files, py-spy and the right to trace processes.
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
