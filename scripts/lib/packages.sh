# Debian 12 packages, by what needs them. Sourced by the scripts beside this folder.
# shellcheck shell=bash disable=SC2034

# Of LLVM, a part of which demangles C++ names: debian/control says it, too.
llvm_version=19

# To build the program.
build_packages=(
  g++ cmake ninja-build pkg-config
  libzstd-dev libxxhash-dev libfmt-dev libcli11-dev rapidjson-dev
  libprotozero-dev libtomlplusplus-dev zlib1g-dev libdw-dev liblzma-dev libiberty-dev libre2-dev
)

# Besides, to build and run the tests.
test_packages=(
  doctest-dev python3 python3-yaml zstd file dpkg-dev libbz2-dev
)

# Besides, to run .ci/run.
check_packages=(
  clang clang-14 libclang-rt-14-dev clang-format-14 clang-tidy-14 lintian protobuf-compiler sqlite3 ccache
  parallel make chromium firefox-esr openjdk-17-jre-headless libbenchmark-dev mold llvm-$llvm_version-dev
)

# To build and to try the program for Windows.
windows_packages=(
  g++-mingw-w64-x86-64-posix libz-mingw-w64-dev wine wine64 dpkg-dev make python3 python3-six unicode-data
)

# Besides, to build the library for musl; the compiler is a package of PyPI. musl itself, to try it.
musl_packages=(
  python3 python3-pip python3-six dpkg-dev musl musl-tools unicode-data
)

# Besides, to make what scripts/dist makes.
dist_packages=(
  libbz2-dev libelf-dev libc6-dev llvm-$llvm_version-dev busybox-static g++-aarch64-linux-gnu qemu-user-static buildah
  python3 python3-venv git dpkg-dev debhelper xz-utils
)

# Whose code is in the static programs: packages with a copyright file.
static_libraries=(
  libc6-dev libstdc++-12-dev libdw-dev libelf-dev libbz2-dev liblzma-dev libzstd-dev zlib1g-dev libxxhash-dev
  libiberty-dev libre2-dev llvm-$llvm_version-dev libfmt-dev libcli11-dev rapidjson-dev libprotozero-dev libtomlplusplus-dev busybox-static
)

# Source packages of those whose licences ask for them.
library_sources=(glibc elfutils libiberty gcc-12 busybox)

# For the program for 64-bit Arm, in Debian's packages for it.
arm_packages=(
  libc6 libc6-dev linux-libc-dev libdw1 libdw-dev libelf1 libelf-dev zlib1g zlib1g-dev libbz2-1.0 libbz2-dev
  liblzma5 liblzma-dev libzstd1 libzstd-dev libxxhash0 libxxhash-dev libiberty-dev libre2-9 libre2-dev libfmt-dev libcli11-dev
  rapidjson-dev libprotozero-dev libtomlplusplus-dev llvm-$llvm_version-dev busybox-static
)
