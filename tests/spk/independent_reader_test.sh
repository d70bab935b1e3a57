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
    branches | ranges) cp "$scratch/listed" "$scratch/ours" ;;
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
  local listings=(processes threads modules events losses metadata functions stacks branches ranges event-values
                  sample-fields branch-stacks)
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
               "$source_dir"/testdata/{sampled.x64.etl,small.nettrace}; do
  "$stackpack" convert --quiet "$capture" -o "$scratch/out.spk"
  check "$scratch/out.spk" samples
  "$stackpack" convert --quiet --no-samples "$capture" -o "$scratch/out.spk"
  check "$scratch/out.spk" counts
done

# Accesses to memory.
python3 -B "$source_dir/tests/cli/make_capture.py" "$scratch/memory.perf.data" 3000 --memory
"$stackpack" convert --quiet "$scratch/memory.perf.data" -o "$scratch/out.spk"
check "$scratch/out.spk" samples
[[ $(wc -l < "$scratch/theirs/sample-fields") == 3000 ]]

# Control groups, beside them and alone.
for memory in --memory ""; do
  # shellcheck disable=SC2086 # nothing or an option
  python3 -B "$source_dir/tests/cli/make_capture.py" "$scratch/cgroups.perf.data" 3000 $memory --cgroups /web,/job/a,/job/b
  "$stackpack" convert --quiet "$scratch/cgroups.perf.data" -o "$scratch/out.spk"
  check "$scratch/out.spk" samples
  [[ $(grep -c '/job/b$' "$scratch/theirs/sample-fields") == 900 ]]
done

# Branch stacks, beside fields and alone.
for memory in --memory ""; do
  # shellcheck disable=SC2086 # nothing or an option
  python3 -B "$source_dir/tests/cli/make_capture.py" "$scratch/branches.perf.data" 3000 --branches $memory
  "$stackpack" convert --quiet --keep-branches "$scratch/branches.perf.data" -o "$scratch/out.spk"
  check "$scratch/out.spk" samples
  [[ $(wc -l < "$scratch/theirs/branch-stacks") == 3000 ]]
done

# Names: an imported profile has lines and inlined calls, too. To a reader of version 1.0, which knows no
# names, the file says the same of all else.
python3 -B "$source_dir/tests/spk/write_named_profile.py" "$scratch/named.pb"
"$stackpack" convert --quiet "$scratch/named.pb" -o "$scratch/named.spk"
check "$scratch/named.spk" samples
python3 "$source_dir/tests/support/read_spk.py" "$scratch/named.spk" "$scratch/theirs" lines
diff "$scratch/theirs/lines" - << 'END'
kernel	-	-	0x77	0x1	run.py:3
image	-	0	0x410	0x1	inner.c:9 < inner at middle.h:5 < middle at outer.c:12
image	-	0	0x420	0x1	outer.c:20
END
mkdir "$scratch/old"
listings=(stacks samples processes threads modules events losses metadata functions)
python3 "$source_dir/tests/support/read_spk.py" --version 1.0 "$scratch/named.spk" "$scratch/old" "${listings[@]}"
for listing in "${listings[@]}"; do
  if [[ $listing == functions ]]; then
    [[ -s $scratch/theirs/functions && ! -s $scratch/old/functions ]]
  else
    diff <(LC_ALL=C sort "$scratch/theirs/$listing") <(LC_ALL=C sort "$scratch/old/$listing")
  fi
done
echo "named.spk: read by the rules of version 1.0"

# A section that such a reader has to know is refused.
python3 - "$scratch/named.spk" "$scratch/required.spk" << 'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
offset, = struct.unpack_from("<Q", data, len(data) - 56)
count, = struct.unpack_from("<I", data, offset + 8)
records = range(offset + 16, offset + 16 + 64 * count, 64)
record, = (at for at in records if data[at:at + 4] == struct.pack("<I", 14))
data[record + 4] |= 1
open(sys.argv[2], "wb").write(data)
END
if python3 "$source_dir/tests/support/read_spk.py" --version 1.0 "$scratch/required.spk" > /dev/null 2> "$scratch/why"; then
  echo "a required section that is unknown was passed over" >&2
  exit 1
fi
grep -q 'section 14 is required and unknown' "$scratch/why"
