#!/bin/bash
# Conversion of captures that no disk has room for, written into a pipe: bench/growth.sh [KIND...]
#
#   bench/growth.sh             all of them, a quarter of an hour
#   bench/growth.sh whole       6.4 GB and 64 GB
#   bench/growth.sh threads     10.6 million threads, 10.7 GB
#   bench/growth.sh nodes       10 and 222 million nodes, 0.6 and 15 GB
#
# Prints, for each, bytes, wall and processor time, peak memory and bytes out, with a limit of 64 MiB
# (LIMIT is another one). The generator runs beside it. Each file is verified, and removed. PROGRAM
# and GENERATOR name other builds.
set -euo pipefail
build=$(cd "$(dirname "$0")/.." && pwd)/build/release
program=${PROGRAM:-$build/src/cli/stackpack}
generator=${GENERATOR:-$build/bench/write_workload}
limit=${LIMIT:-64MiB}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# NAME SCALE [WANDER [LIFE]]
measure() {
  "$generator" perf-stream /dev/stdout "$2" 1 "${3:-0}" "${4:-0}" |
    /usr/bin/time -o "$work/time" -f '%e %U %S %M' \
      "$program" convert - -o "$work/out.spk" --force --quiet --memory-limit "$limit" --json >"$work/report"
  "$program" verify --quiet "$work/out.spk"
  read -r wall user system peak <"$work/time"
  awk -v n="$1" -v b="$(grep -o '"input_bytes": *[0-9]*' "$work/report" | grep -o '[0-9]*$')" \
    -v w="$wall" -v u="$user" -v s="$system" -v p="$peak" -v o="$(stat -c %s "$work/out.spk")" \
    'BEGIN { printf "%-8s %13.0f %9.2f %9.2f %10.1f %12.0f\n", n, b, w, u + s, p / 1024, o }'
}

printf '%-8s %13s %9s %9s %10s %12s\n' kind bytes wall_s cpu_s peak_MiB out_bytes
(($#)) || set -- whole threads nodes
for kind; do
  case $kind in
    whole)
      measure whole 1.081
      measure whole 10.81
      ;;
    threads) measure threads 1.5 0 3 ;;
    nodes)
      measure nodes 0.1 1
      measure nodes 2.4 1
      ;;
    *)
      echo "growth.sh: no kind '$kind': whole, threads or nodes" >&2
      exit 1
      ;;
  esac
done
