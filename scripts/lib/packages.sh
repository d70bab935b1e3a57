# Debian 12 packages, by what needs them. Sourced by the scripts beside this folder.
# shellcheck shell=bash disable=SC2034

# To build the program.
build_packages=(
  g++ cmake ninja-build pkg-config
  libzstd-dev libxxhash-dev libfmt-dev libcli11-dev rapidjson-dev
  libprotozero-dev zlib1g-dev libdw-dev liblzma-dev libiberty-dev
)

# Besides, to build and run the tests.
test_packages=(
  doctest-dev python3 zstd file dpkg-dev
)

# Besides, to run .ci/run.
check_packages=(
  clang clang-14 libclang-rt-14-dev clang-format-14 clang-tidy-14 lintian protobuf-compiler sqlite3 ccache
  parallel make chromium firefox-esr openjdk-17-jre-headless libbenchmark-dev mold
)

# To build and to try the program for Windows.
windows_packages=(
  g++-mingw-w64-x86-64-posix libz-mingw-w64-dev wine wine64 dpkg-dev make
)
