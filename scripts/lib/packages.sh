# Debian 12 packages, by what needs them. Sourced by the scripts beside this folder.
# shellcheck shell=bash disable=SC2034

# To build everything and run every test.
build_packages=(
  g++ cmake ninja-build pkg-config
  libzstd-dev libxxhash-dev libfmt-dev libcli11-dev rapidjson-dev
  libprotozero-dev zlib1g-dev libzip-dev libdw-dev liblzma-dev libiberty-dev libbenchmark-dev doctest-dev
  python3 zstd
)

# Besides, to run .ci/run.
check_packages=(
  clang clang-14 libclang-rt-14-dev clang-format-14 clang-tidy-14 lintian protobuf-compiler sqlite3 ccache
  chromium firefox-esr openjdk-17-jre-headless
)

# To build and to try the program for Windows.
windows_packages=(
  g++-mingw-w64-x86-64-posix libz-mingw-w64-dev wine wine64 dpkg-dev make
)
