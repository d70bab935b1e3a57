#!/bin/bash
# Two readers, one format: what `stackpack dump` lists of callstacks, samples (order, times, weights and all
# other fields) and tables is what a reader lists that was written from docs/format.md alone; and zstd accepts
# every file.
# usage: independent_reader_test.sh STACKPACK SOURCE_DIR
set -euo pipefail
stackpack=$1
source_dir=$2
scratch=$(mktemp -d)
mkdir "$scratch/theirs"
trap 'rm -rf "$scratch"' EXIT

# One listing of FILE by both readers. The lines of stacks have no order; comm, the tenth column of samples, is
# no field of the file.
compare() {
  local file=$1 listing=$2
  "$stackpack" dump "--$listing" "$file" > "$scratch/listed"
  case $listing in
    stacks)
      LC_ALL=C sort "$scratch/listed" > "$scratch/ours"
      LC_ALL=C sort -o "$scratch/theirs/stacks" "$scratch/theirs/stacks" ;;
    samples) tail -n +2 "$scratch/listed" | cut -f 1-9,11 > "$scratch/ours" ;;
    *) tail -n +2 "$scratch/listed" > "$scratch/ours" ;;
  esac
  if ! cmp -s "$scratch/ours" "$scratch/theirs/$listing"; then
    echo "$file: the readers disagree about $listing" >&2
    diff "$scratch/ours" "$scratch/theirs/$listing" | head >&2
    exit 1
  fi
  lines=$(wc -l < "$scratch/ours")
}

# check FILE samples|counts
check() {
  local listings=(processes threads modules events losses metadata functions stacks)
  zstd -tq "$1"
  if [[ $2 == samples ]]; then
    listings=(samples "${listings[@]}")
  fi
  python3 "$source_dir/tests/support/read_spk.py" "$1" "$scratch/theirs" "${listings[@]}"
  for listing in "${listings[@]}"; do
    compare "$1" "$listing"
  done
  printf '%s: %d callstacks, %d listings\n' "${1##*/}" "$lines" "${#listings[@]}"
}

for file in "$source_dir"/testdata/spk/*/*.spk; do
  check "$file" "$(case $file in *-counts.spk) echo counts ;; *) echo samples ;; esac)"
done
for capture in "$source_dir"/testdata/{file,events,threads,dwarf,no-chains}.perf.data \
               "$source_dir"/testdata/sampled.x64.etl; do
  "$stackpack" convert --quiet "$capture" -o "$scratch/out.spk"
  check "$scratch/out.spk" samples
  "$stackpack" convert --quiet --no-samples "$capture" -o "$scratch/out.spk"
  check "$scratch/out.spk" counts
done
