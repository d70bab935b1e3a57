#!/bin/bash
# Two readers, one format: what `stackpack dump --stacks` lists is what a reader lists that was written
# from docs/format.md alone; and zstd accepts every file.
# usage: independent_reader_test.sh STACKPACK SOURCE_DIR
set -euo pipefail
stackpack=$1
source_dir=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

check() {
  zstd -tq "$1"
  "$stackpack" dump --stacks "$1" | LC_ALL=C sort > "$scratch/ours"
  python3 "$source_dir/tests/support/read_spk.py" "$1" | LC_ALL=C sort > "$scratch/theirs"
  if ! cmp -s "$scratch/ours" "$scratch/theirs"; then
    echo "$1: the readers disagree" >&2
    diff "$scratch/ours" "$scratch/theirs" | head >&2
    exit 1
  fi
  printf '%s: %d callstacks\n' "${1##*/}" "$(wc -l < "$scratch/ours")"
}

for file in "$source_dir"/testdata/spk/*/*.spk; do
  check "$file"
done
for capture in "$source_dir"/testdata/{file,events,threads,dwarf,no-chains}.perf.data \
               "$source_dir"/testdata/sampled.x64.etl; do
  "$stackpack" convert --quiet "$capture" -o "$scratch/out.spk"
  check "$scratch/out.spk"
  "$stackpack" convert --quiet --no-samples "$capture" -o "$scratch/out.spk"
  check "$scratch/out.spk"
done
