#!/bin/sh
# A hunt for regressions in zstd, by the steps of docs/ci.md as they are written: 30 commits on top of Debian's source package, each
# built, recorded (profile.sh), compared with the last commits before it as a change would be (gate.sh), and merged (keep.sh).
#   hunt_zstd.sh FOLDER SOURCE     SOURCE: `apt-get source libzstd` unpacked; with git, make, perf, a C compiler and stackpack
# Three commits change what it costs: 12 leaves a check of each byte in the histogram, 20 compiles Huffman coding without
# optimization of loops, 27 takes the check out again. The others change a comment.
set -eu
docs=$(cd "$(dirname "$0")/../.." && pwd)/docs/ci.md
source=$(cd "$2" && pwd)
mkdir -p "$1"
cd "$1"
cp -r "$source/lib" lib
for script in profile.sh gate.sh keep.sh stackpack-gate.toml; do
  awk -v first="    # $script" 'index($0, first) == 1 { on = 1 } on && /^$/ { exit } on { print substr($0, 5) }' "$docs" > "$script"
done
cat > bench.c <<'PROGRAM'
#include <stdio.h>
#include <stdlib.h>
#include "lib/zstd.h"
/* Compresses and decompresses text of words that an own generator draws. */
int main(void) {
  const size_t size = 8u << 20;
  char *text = malloc(size), *packed = malloc(ZSTD_compressBound(size));
  unsigned state = 1;
  for (size_t at = 0; at < size;) {
    state = state * 1664525u + 1013904223u;
    unsigned word = (state >> 16) % 3000 * ((state >> 8) % 7 + 1), letters = 2 + word % 9;
    for (; letters-- != 0 && at < size; word = word * 31 + 7) text[at++] = (char)('a' + word / 8 % 26);
    if (at < size) text[at++] = ' ';
  }
  for (int turn = 0; turn < 4; ++turn) {
    const size_t bytes = ZSTD_compress(packed, ZSTD_compressBound(size), text, size, 1);
    if (ZSTD_isError(bytes) || ZSTD_decompress(text, size, packed, bytes) != size) return 1;
  }
  return 0;
}
PROGRAM
cat > Makefile <<'RULES'
HUFFMAN_FLAGS = -O3
OBJECTS = $(patsubst %.c,%.o,$(wildcard lib/common/*.c lib/compress/*.c lib/decompress/*.c)) bench.o
CFLAGS = -O3 -g -DZSTD_DISABLE_ASM -DXXH_NAMESPACE=ZSTD_
# What level 1 does not use is compiled fast.
lib/compress/zstd_lazy.o lib/compress/zstd_opt.o lib/compress/zstd_ldm.o lib/compress/zstdmt_compress.o: CFLAGS += -O0
lib/compress/huf_compress.o: CFLAGS += $(HUFFMAN_FLAGS)
lib/compress/huf_compress.o: Makefile
benchmark: $(OBJECTS)
	$(CC) -o $@ $(OBJECTS)
RULES
git init -q .
printf '*.o\n/base/\n/runs/\n/benchmark\n/*.txt\ncomment.md\ndiff.json\n' > .gitignore
check='    { const BYTE* p; volatile unsigned zeros = 0; for (p = ip; p != iend; ++p) zeros += *p == 0; } /* debug */'
commit=1
while [ "$commit" -le 30 ]; do
  case $commit in
    12) sed -i "s|^    /\\* by stripes of 16 bytes \\*/|$check\\n&|" lib/compress/hist.c ;;
    20) sed -i 's/^HUFFMAN_FLAGS = .*/HUFFMAN_FLAGS = -O1/' Makefile ;;
    27) sed -i '/volatile unsigned zeros/d' lib/compress/hist.c ;;
    *) echo "/* commit $commit */" >> lib/common/error_private.c ;;
  esac
  git add -A
  git -c user.name=hunt -c user.email=hunt@stackpack.example commit -q -m "commit $commit"
  make -s benchmark
  sh profile.sh 2> perf.txt
  status=0
  sh gate.sh > gate.txt 2>&1 || status=$?
  echo "commit $commit $(git rev-parse --short HEAD): gate $status"
  cp comment.md "comment$commit.txt"
  sh keep.sh > keep.txt 2>&1
  commit=$((commit + 1))
done
stackpack trend base
