# The lines of a function, from a profile that has them, and offsets where nobody knows lines.
capture demo.perf.data
"$program" convert -q demo.perf.data -o demo.spk
python3 - <<'PY'
def number(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])
def field(key, value):
    if isinstance(value, int):
        return number(key << 3) + number(value)
    return number(key << 3 | 2) + number(len(value)) + value
texts = ["", "samples", "count", "parse", "src/parse.c", "main", "src/main.c"]
# Locations 1: parse:5, 2: parse:12, 3: parse:900, 4: main:3
places = [(1, 5), (1, 12), (1, 900), (2, 3)]
profile = field(1, field(1, 1) + field(2, 2))
for stack, count in [([1, 4], 5), ([2, 4], 2), ([3, 4], 1), ([4], 2)]:
    profile += field(2, b"".join(field(1, place) for place in stack) + field(2, count))
for index, (function, line) in enumerate(places, 1):
    profile += field(4, field(1, index) + field(4, field(1, function) + field(2, line)))
profile += field(5, field(1, 1) + field(2, 3) + field(4, 4)) + field(5, field(1, 2) + field(2, 5) + field(4, 6))
for text in texts:
    profile += field(6, text.encode())
open("lines.pprof", "wb").write(profile)
PY
run convert lines.pprof -o lines.spk -q
run top lines.spk --by line
run top lines.spk --annotate parse
mkdir -p elsewhere/src
printf 'line %d\n' 1 2 3 4 >elsewhere/src/parse.c
printf '\tif (x)\t\033[31m{\n\n' >>elsewhere/src/parse.c
printf 'line %d\n' 7 8 9 10 11 12 13 >>elsewhere/src/parse.c
run top lines.spk --annotate parse --sources elsewhere
run top lines.spk --annotate parse --sources elsewhere/src --json
run top lines.spk --annotate nobody
run annotate lines.spk parse --sources elsewhere
run export lines.spk --format folded --sources elsewhere -o lines.folded
run view lines.spk demo.spk --sources elsewhere
run top lines.spk demo.spk --annotate parse
run top lines.spk --tree --annotate parse
# What is no file is not read.
rm elsewhere/src/parse.c
mkdir elsewhere/src/parse.c
run top lines.spk --annotate parse --sources elsewhere
# Code without lines.
mkdir -p root/usr/bin
elf root/usr/bin/demo main=401000+c parse=401010+10 read=401020+8
run symbolize demo.spk -o named.spk --sysroot root --quiet
run top named.spk --annotate parse
