#!/bin/bash
# What scripts/dist made, installed where nothing else is, and the main job done with it:
#   dist_test.sh FOLDER SOURCE_FOLDER PROGRAM
# FOLDER, or $STACKPACK_DIST, is what scripts/dist filled; PROGRAM, built here, makes the file that all the others have to make, byte for byte.
# Parts that FOLDER lacks are said to be missing. 77: nothing can be tried here, and why.
set -euo pipefail
folder=${STACKPACK_DIST:-$1} source=$2 program=$3
skip() {
  printf 'skipped: %s\n' "$*"
  exit 77
}
[[ -f $folder/SHA256SUMS ]] || skip "no $folder/SHA256SUMS: scripts/dist makes it"
((EUID == 0)) || skip 'needs root, for chroot'
for tool in debootstrap python3; do
  command -v "$tool" >/dev/null || skip "no $tool"
done
# shellcheck source=scripts/lib/setup.sh
source "$source/scripts/lib/setup.sh"
# shellcheck source=scripts/lib/dist_parts.sh
source "$source/scripts/lib/dist_parts.sh"

work=$(mktemp -d)
system=$work/system
clean_up() {
  for place in dev/pts dev proc; do
    umount "$system/$place" 2>/dev/null || true
  done
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
capture=$source/testdata/file.perf.data
"$program" convert "$capture" -o "$work/expected.spk" --quiet
version=$("$program" --version | sed -n '1s/^stackpack //p')

# The file that is expected: same_file WHAT FILE
same_file() {
  cmp "$work/expected.spk" "$2" || { echo "WRONG $1: another file than the program that was built here makes"; exit 1; }
  echo "ok    $1"
}

# The file of a part, or nothing, which is said: part PATTERN
part() {
  compgen -G "$folder/$1" | head -n 1 || echo "missing: $folder/$1" >&2
}

# A program in a folder with nothing but itself and the capture: alone WHAT ARCHIVE [EMULATOR]
alone() {
  local what=$1 archive=$2 emulator=() place bytes
  place=$(mktemp -d -p "$work")
  mkdir "$place/tmp"
  tar -xzf "$archive" -C "$place" --strip-components=1
  bytes=$(stat -c %s "$place/stackpack")
  ((bytes <= 12000000)) || { echo "WRONG $what: $bytes bytes"; exit 1; }
  [[ -s $place/NOTICE && -s $place/licences/libdw-dev.txt ]] || { echo "WRONG $what: no licences"; exit 1; }
  ! readelf -l "$place/stackpack" | grep -q INTERP || { echo "WRONG $what: asks for a loader"; exit 1; }
  cp "$capture" "$place/capture"
  if [[ -n ${3:-} ]]; then
    cp "$3" "$place/emulator"
    emulator=(/emulator)
  fi
  run() {
    chroot "$place" "${emulator[@]}" /stackpack "$@"
  }
  run convert /capture -o /tmp/out.spk --quiet
  run verify /tmp/out.spk >/dev/null
  run top /tmp/out.spk | grep -q 'self%'
  run convert /capture --symbolize -o /tmp/named.spk --quiet
  run export /tmp/out.spk --format html -o /tmp/page.html
  same_file "$what ($bytes bytes)" "$place/tmp/out.spk"
}

(cd "$folder" && sha256sum --quiet -c SHA256SUMS)
echo 'ok    checksums'

archive=$(part 'stackpack-*-linux-x86_64.tar.gz')
if [[ -n $archive && $(uname -m) == x86_64 ]]; then
  alone 'static program, x86-64' "$archive"
fi
archive=$(part 'stackpack-*-linux-aarch64.tar.gz')
emulator=$(command -v qemu-aarch64-static || true)
if [[ -n $archive && $(uname -m) == aarch64 ]]; then
  alone 'static program, 64-bit Arm' "$archive"
elif [[ -n $archive && -n $emulator ]]; then
  alone 'static program, 64-bit Arm, emulated' "$archive" "$emulator"
elif [[ -n $archive ]]; then
  echo 'missing: qemu-user-static, to try the program for 64-bit Arm'
fi
archive=$(part 'stackpack-*-image.tar')
if [[ -n $archive && -n $emulator ]]; then
  python3 -B "$source/tests/dist/unpack_image.py" "$archive" arm64 "$work/arm-image"
  cp "$emulator" "$work/arm-image/emulator"
  cp "$capture" "$work/arm-image/data/capture"
  chroot "$work/arm-image" /emulator /usr/bin/stackpack convert /data/capture -o /data/out.spk --quiet
  [[ $(chroot "$work/arm-image" /emulator /bin/busybox wc -c /data/out.spk) == "$(stat -c %s "$work/expected.spk") /data/out.spk" ]] ||
    { echo 'WRONG image, 64-bit Arm: busybox'; exit 1; }
  same_file 'image, 64-bit Arm, emulated' "$work/arm-image/data/out.spk"
fi
if [[ -n $archive && $(uname -m) == x86_64 ]]; then
  python3 -B "$source/tests/dist/unpack_image.py" "$archive" amd64 "$work/image"
  cp "$capture" "$work/image/data/capture"
  # As examples/fleet runs it.
  chroot "$work/image" /bin/sh -c 'PATH=/usr/bin:/bin; cd /data && mkdir -p /data/packed &&
    echo /data/capture | awk "NR % 1 == 0" | stackpack convert --files-from - --out-dir /data/packed --quiet'
  same_file 'image' "$(compgen -G "$work/image/data/packed/*.spk")"
fi

# The Dockerfile, built without a daemon and without another image.
layer=$(part 'stackpack-*-root-amd64.tar.gz')
if [[ -n $layer && $(uname -m) == x86_64 ]] && command -v buildah >/dev/null; then
  build_image() {
    buildah --root "$work/images" --runroot "$work/images-run" --storage-driver vfs "$@"
  }
  build_image build --quiet --isolation chroot --platform linux/amd64 --build-arg VERSION="$version" --tag stackpack \
    --file "$source/packaging/image/Dockerfile" "$folder" >"$work/image.log" 2>&1 || { cat "$work/image.log"; exit 1; }
  container=$(build_image from stackpack)
  cp "$capture" "$(build_image mount "$container")/data/capture"
  build_image run --isolation chroot "$container" sh -c 'stackpack convert capture -o out.spk --quiet'
  same_file 'Dockerfile, built by buildah' "$(build_image mount "$container")/data/out.spk"
  build_image rm "$container" >/dev/null
elif [[ -n $layer ]]; then
  echo 'missing: buildah, to build the Dockerfile'
fi

# The wheel for Windows: the program, and the library as Python loads it; wine has no Python of its own.
wheel=$(part 'stackpack_captures-*-win_amd64.whl')
compiler=$(command -v x86_64-w64-mingw32-gcc-posix || true)
if [[ -n $wheel ]] && command -v wine >/dev/null && [[ -n $compiler ]]; then
  place=$work/windows
  python3 -m zipfile -e "$wheel" "$place"
  "$compiler" -O1 -I "$place" "$source/tests/dist/load_library.c" -o "$place/load_library.exe"
  cp "$capture" "$place/capture"
  in_wine() {
    (cd "$place" && WINEDEBUG=-all WINEPREFIX="$work/wine" DISPLAY='' wine "$@")
  }
  in_wine "$(cd "$place" && compgen -G 'stackpack_captures-*.data/scripts/stackpack.exe')" convert capture -o program.spk --quiet
  same_file 'wheel for Windows: the program' "$place/program.spk"
  in_wine load_library.exe 'stackpack\stackpack.dll' capture library.spk
  same_file 'wheel for Windows: the library' "$place/library.spk"
  WINEPREFIX=$work/wine wineserver -w
  # What any Windows has, and nothing of the compiler.
  strange=$(x86_64-w64-mingw32-objdump -p "$place/stackpack/stackpack.dll" | sed -n 's/^\s*DLL Name: //p' |
    grep -viE '^(kernel32|msvcrt|advapi32|shell32|ole32|user32|ws2_32|bcrypt|ntdll|dbghelp|rpcrt4|userenv|psapi)\.dll$' || true)
  [[ -z $strange ]] || { echo "WRONG wheel for Windows: asks for $strange"; exit 1; }
  names=$(python3 -c "import re, sys; print(re.sub(r'/\*.*?\*/', '', sys.stdin.read(), flags=re.S))" < <(cat "$place"/stackpack/c_*.h) |
    grep -oE '\bstackpack_\w+\(' | tr -d '(' | sort -u)
  exported=$(x86_64-w64-mingw32-objdump -p "$place/stackpack/stackpack.dll" | sed -n 's/^.* \(stackpack_[a-z0-9_]*\)$/\1/p' | sort -u)
  [[ $names == "$exported" ]] || { echo 'WRONG wheel for Windows: exports other functions than the headers have'; exit 1; }
  python3 -B "$source/tests/dist/check_wheel.py" "$wheel"
fi

# The wheels for musl: pip takes them for such a system, and a program of musl's loads the library where nothing else is.
# Debian has no Python for musl.
loader_of_this_machine() {
  mkdir -p "$1/lib"
  cp "/lib/ld-musl-$(uname -m).so.1" "$1/lib/"
  musl-gcc -O1 -I "$source/include" "$source/tests/dist/load_library.c" -o "$1/load_library"
}
# What Debian's musl-gcc does, with the compiler that Debian has for Arm.
loader_of_arm() {
  local place=$1 musl=$work/arm-musl compiler=aarch64-linux-gnu-gcc package
  fetch_arm_packages "$musl/archives" musl musl-dev
  for package in "$musl"/archives/*.deb; do
    dpkg-deb --extract "$package" "$musl"
  done
  mkdir -p "$place/lib"
  cp "$musl/lib/aarch64-linux-musl/libc.so" "$place/lib/ld-musl-aarch64.so.1"
  "$compiler" -O1 -nostdinc -isystem "$musl/usr/include/aarch64-linux-musl" -isystem "$("$compiler" -print-file-name=include)" \
    -I "$source/include" "$source/tests/dist/load_library.c" -o "$place/load_library" -no-pie -nostdlib \
    -Wl,--dynamic-linker=/lib/ld-musl-aarch64.so.1 "$musl/usr/lib/aarch64-linux-musl/crt1.o" -L "$musl/lib/aarch64-linux-musl" -lc -lgcc
}

# musl_wheel WHEEL MACHINE [EMULATOR]
musl_wheel() {
  local wheel=$1 machine=$2 place=$work/musl-$2 emulator=() needed
  python3 -B "$source/tests/dist/check_wheel.py" "$wheel"
  python3 -m pip install -q --retries 1 --no-compile --only-binary=:all: --implementation cp --python-version 3.11 \
    --platform "musllinux_1_2_$machine" --target "$place/site" "$wheel"
  needed=$(readelf -d "$place/site/stackpack/libstackpack.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  [[ $needed == libc.so ]] || { echo "WRONG wheel for musl, $machine: asks for $needed"; exit 1; }
  mkdir "$place/tmp"
  cp "$capture" "$place/capture"
  if [[ -n ${3:-} ]]; then
    cp "$3" "$place/emulator"
    emulator=(/emulator)
    loader_of_arm "$place"
  else
    loader_of_this_machine "$place"
  fi
  chroot "$place" "${emulator[@]}" /site/bin/stackpack convert /capture -o /tmp/program.spk --quiet
  same_file "wheel for musl, $machine: the program" "$place/tmp/program.spk"
  chroot "$place" "${emulator[@]}" /load_library /site/stackpack/libstackpack.so /capture /tmp/library.spk
  same_file "wheel for musl, $machine: the library" "$place/tmp/library.spk"
}

wheel=$(part 'stackpack_captures-*musllinux*_x86_64.whl')
if [[ -n $wheel && $(uname -m) == x86_64 ]] && command -v musl-gcc >/dev/null; then
  musl_wheel "$wheel" x86_64
elif [[ -n $wheel ]]; then
  echo 'missing: musl-tools, to try the wheel for musl'
fi
wheel=$(part 'stackpack_captures-*musllinux*_aarch64.whl')
if [[ -n $wheel && -n $emulator ]] && command -v aarch64-linux-gnu-gcc >/dev/null; then
  musl_wheel "$wheel" aarch64 "$emulator"
elif [[ -n $wheel ]]; then
  echo 'missing: qemu-user-static and gcc-aarch64-linux-gnu, to try the wheel for musl on 64-bit Arm'
fi

# A fresh Debian, with what the tests read of this checkout.
fresh_debian() {
  local suite
  suite=$(debian_suite)
  debootstrap --variant=minbase "$suite" "$system" "$(debian_address)" >"$work/debootstrap.log" 2>&1 ||
    { tail -n 5 "$work/debootstrap.log"; exit 1; }
  cp -rL /etc/apt/. "$system/etc/apt/"
  cp -L /etc/resolv.conf /etc/hosts "$system/etc/"
  mount -t proc proc "$system/proc"
  mount --bind /dev "$system/dev"
  mount -t devpts devpts "$system/dev/pts" -o newinstance,ptmxmode=0666
  cp -r "$folder" "$system/dist"
  mkdir -p "$system/source/tests"
  cp -r "$source/testdata" "$source/debian" "$system/source/"
  cp -r "$source/tests/consumer" "$system/source/tests/"
}
inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$system" /bin/bash -euo pipefail -c "$1" </dev/null
}
install() {
  inside "apt-get -qq update && apt-get -qq install --yes --no-install-recommends $*" >"$work/apt.log" 2>&1 ||
    { tail -n 20 "$work/apt.log"; exit 1; }
}

# The wheel, as on any system without a compiler or a library of profilers.
manylinux_wheel() {
  local wheel=$1 file auditor=$root/build/dist/wheel-tools/bin/auditwheel
  [[ $wheel == *-py3-none-manylinux_*_x86_64.whl ]] || { echo "WRONG $wheel: tag"; exit 1; }
  python3 -B "$source/tests/dist/check_wheel.py" "$wheel"
  if [[ -x $auditor ]]; then
    [[ $wheel == *"$("$auditor" show "$wheel" | grep -oE 'manylinux_[0-9_]+' | head -n 1)"* ]] ||
      { echo 'WRONG wheel: auditwheel finds another tag'; exit 1; }
  fi
  install python3-venv ca-certificates
  # How packages are fetched is this machine's matter.
  cp -L --remove-destination /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/ca-certificates.crt"
  for file in /etc/pip.conf "$HOME/.config/pip/pip.conf"; do
    [[ ! -f $file ]] || cp "$file" "$system/etc/pip.conf"
  done
  inside "python3 -m venv /env && /env/bin/pip install -q --retries 1 /dist/$(basename "$wheel")"
  inside '/env/bin/stackpack convert /source/testdata/file.perf.data -o /tmp/wheel.spk --quiet'
  same_file 'wheel: the program' "$system/tmp/wheel.spk"
  cp "$source/tests/dist/wheel_job.py" "$system/tmp/job.py"
  inside '/env/bin/python /tmp/job.py /source/testdata/file.perf.data /tmp/module.spk'
  same_file 'wheel: the module' "$system/tmp/module.spk"
}

# Debian's packages, and their own tests, as debian/tests/control names them.
debian_packages() {
  local name
  install "/dist/stackpack_${version}-*_amd64.deb"
  inside 'stackpack convert /source/testdata/file.perf.data -o /tmp/packaged.spk --quiet'
  same_file "Debian's package" "$system/tmp/packaged.spk"
  inside 'test -s /usr/share/man/man1/stackpack.1.gz'
  install '/dist/libstackpack*.deb' g++ pkg-config
  for name in $(sed -n 's/^Tests: //p' "$source/debian/tests/control"); do
    inside "cd /source && mkdir -p /tmp/$name && AUTOPKGTEST_TMP=/tmp/$name sh debian/tests/$name >/dev/null"
    echo "ok    Debian's packages: $name"
  done
}

wheel=$(part 'stackpack_captures-*manylinux*.whl')
packages=$(part 'stackpack_*_amd64.deb')
if [[ $(uname -m) == x86_64 && -n $wheel$packages ]]; then
  fresh_debian
  [[ -z $wheel ]] || manylinux_wheel "$wheel"
  [[ -z $packages ]] || debian_packages
fi
echo "done, version $version"
