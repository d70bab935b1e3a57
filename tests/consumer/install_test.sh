#!/bin/bash
# Installs a build into an empty folder and uses it from there: the program, the CMake package, the
# pkg-config file in C and C++, shared and static, the completions and the man page.
#   install_test.sh BUILD_FOLDER SOURCE_FOLDER CXX
set -euo pipefail
build=$1 source=$2 cxx=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}

cmake --install "$build" --prefix "$work/usr" >"$work/log" || { cat "$work/log"; exit 1; }
python3 "$source/tests/cli/make_capture.py" "$work/demo.perf.data"

echo 'the program runs from there'
"$work/usr/bin/stackpack" convert "$work/demo.perf.data" -o "$work/program.spk"

pc=$(find "$work/usr" -name stackpack.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
LD_LIBRARY_PATH=${PKG_CONFIG_PATH%/pkgconfig}
export PKG_CONFIG_PATH LD_LIBRARY_PATH
library=$LD_LIBRARY_PATH/libstackpack.so

# links_with PROGRAM shared|static: whether the program was linked as it should be.
links_with() {
  local kind=static
  if readelf -d "$1" | grep -q 'NEEDED.*libstackpack'; then
    kind=shared
  fi
  [[ $kind == "$2" ]] || { echo "$1 is linked with the $kind library"; exit 1; }
}

echo 'the shared library offers the public interface'
python3 "$source/tests/consumer/exported_symbols_test.py" "$library" "$work/usr/include"
readelf -d "$library" | grep -q 'SONAME.*libstackpack.so.[0-9]*\.[0-9]*\]'

echo 'find_package finds, links and runs'
cmake -G Ninja -S "$source/tests/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$work/usr" \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Release >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/consumer" >"$work/log" || { cat "$work/log"; exit 1; }
links_with "$work/consumer/consumer" shared
links_with "$work/consumer/consumer_static" static
for consumer in consumer consumer_static; do
  "$work/consumer/$consumer" "$work/demo.perf.data" "$work/$consumer.spk"
  cmp "$work/program.spk" "$work/$consumer.spk"
done

echo 'so does pkg-config, in C++ and C'
# shellcheck disable=SC2046
{
  "$cxx" -std=c++20 "$source/tests/consumer/consumer.cc" -o "$work/shared" \
    $(pkg-config --cflags --libs stackpack)
  "$cc" -std=c11 "$source/tests/consumer/consumer.c" -o "$work/shared-c" \
    $(pkg-config --cflags --libs stackpack)
  # What has no static library itself stays shared.
  "$cc" -std=c11 "$source/tests/consumer/consumer.c" -o "$work/static-c" \
    $(pkg-config --cflags stackpack) -L"$LD_LIBRARY_PATH" \
    $(pkg-config --libs --static stackpack | sed 's/-lstackpack/-l:libstackpack.a/')
}
links_with "$work/shared" shared
links_with "$work/shared-c" shared
links_with "$work/static-c" static
"$work/shared" "$work/demo.perf.data" "$work/library.spk"
"$work/shared-c" "$work/library.spk" "$work/merged.spk"
"$work/static-c" "$work/library.spk"

echo 'completions complete'
test -s "$work/usr/share/man/man1/stackpack.1.gz"
test -s "$work/usr/share/zsh/vendor-completions/_stackpack"
test -s "$work/usr/share/fish/vendor_completions.d/stackpack.fish"
complete_words() {
  bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stackpack
    printf "%s\n" "${COMPREPLY[@]}"' _ "$work/usr/share/bash-completion/completions/stackpack" "$@"
}
[[ $(complete_words stackpack conv) == convert ]]
[[ $(complete_words stackpack convert --out-d) == --out-dir ]]
[[ $(complete_words stackpack convert --progress al) == always ]]
[[ $(complete_words stackpack convert --out-dir "$work/us") == "$work/usr" ]]
[[ $(complete_words stackpack help comp) == completions ]]
echo 'done'
