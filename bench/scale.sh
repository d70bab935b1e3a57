#!/bin/bash
# How conversion grows with the capture: bench/scale.sh START [MOST [KIND [OPTIONS OF CONVERT...]]]
#
#   bench/scale.sh 256M 8G                          perf.data of 256 MB, 512 MB, ... 8 GB
#   bench/scale.sh 256M 2G etl-compressed --memory-limit 64MiB
#
# KIND: perf (default), etl, etl-compressed, etl-huffman or etl-lznt1, written by bench/write_workload. Prints, for each size,
# wall and processor time, MB/s of capture, peak memory and bytes out, and in the end the exponent by
# which time grows from the first to the last: 1 is linear. Each file is verified. Captures lie in
# $TMPDIR and are removed one by one; PROGRAM and GENERATOR name other builds.
set -euo pipefail
start=${1:?"usage: bench/scale.sh START [MOST [KIND [OPTIONS OF CONVERT...]]]"}
most=${2:-$start}
kind=${3:-perf}
shift $(($# < 3 ? $# : 3))
build=$(cd "$(dirname "$0")/.." && pwd)/build/release
program=${PROGRAM:-$build/src/cli/stackpack}
generator=${GENERATOR:-$build/bench/write_workload}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

bytes=$(numfmt --from=si "$start")
most=$(numfmt --from=si "$most")
# The scale that gives a size, from the bytes at a hundredth of scale 1.
"$generator" "$kind" "$work/probe" 0.01
probe=$(stat -c %s "$work/probe")
rm "$work/probe"

printf '%12s %9s %9s %8s %10s %12s\n' bytes wall_s cpu_s MB/s peak_MiB out_bytes
while ((bytes <= most)); do
  "$generator" "$kind" "$work/capture" "$(awk "BEGIN { print 0.01 * $bytes / $probe }")"
  cat "$work/capture" >/dev/null # a warm cache, as far as memory goes
  /usr/bin/time -o "$work/time" -f '%e %U %S %M' \
    "$program" convert "$work/capture" -o "$work/out.spk" --quiet "$@"
  "$program" verify --quiet "$work/out.spk"
  read -r wall user system peak <"$work/time"
  size=$(stat -c %s "$work/capture")
  awk -v b="$size" -v w="$wall" -v u="$user" -v s="$system" -v p="$peak" \
    -v o="$(stat -c %s "$work/out.spk")" \
    'BEGIN { printf "%12s %9.2f %9.2f %8.0f %10.1f %12d\n", b, w, u + s, b / w / 1e6, p / 1024, o }' |
    tee -a "$work/table"
  rm "$work/capture" "$work/out.spk"
  bytes=$((2 * bytes))
done
awk '{ if (NR == 1) { b = $1; w = $2; c = $3 } lb = $1; lw = $2; lc = $3 }
  END { if (NR > 1) printf "time grows with the power %.3f of the size (processor time: %.3f)\n",
          log(lw / w) / log(lb / b), log(lc / c) / log(lb / b) }' "$work/table"
