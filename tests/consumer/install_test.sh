#!/bin/bash
# Installs a build into an empty folder and uses it from there: the program, the CMake package, the
# pkg-config file, the completions and the man page.
#   install_test.sh BUILD_FOLDER SOURCE_FOLDER CXX
set -euo pipefail
build=$1 source=$2 cxx=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/usr" >"$work/log" || { cat "$work/log"; exit 1; }
python3 "$source/tests/cli/make_capture.py" "$work/demo.perf.data"

echo 'the program runs from there'
"$work/usr/bin/stackpack" convert "$work/demo.perf.data" -o "$work/program.spk"

echo 'find_package finds, links and runs'
cmake -S "$source/tests/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$work/usr" \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Release >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/consumer" >"$work/log" || { cat "$work/log"; exit 1; }
"$work/consumer/consumer" "$work/demo.perf.data" "$work/library.spk"
cmp "$work/program.spk" <(STACKPACK=x "$work/usr/bin/stackpack" convert "$work/demo.perf.data" -o -)

echo 'so does pkg-config'
pc=$(find "$work/usr" -name stackpack.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
"$cxx" -std=c++20 "$source/tests/consumer/consumer.cc" -o "$work/by-pkg-config" \
  $(pkg-config --cflags --libs --static stackpack)
"$work/by-pkg-config" "$work/demo.perf.data" "$work/library.spk"

echo 'completions complete'
test -s "$work/usr/share/man/man1/stackpack.1"
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
