# Debian's source packages, of which libraries are built for systems that Debian has none for. Sourced by scripts that
# set `work`, the folder that all of it is in, and have sourced setup.sh.
# shellcheck shell=bash disable=SC2154

# Of LLVM only what demangles C++ names is built, of the version of Debian's packages that the other systems take.
llvm=llvm-toolchain-$llvm_version
llvm_folder=$root/build/$llvm

# Source packages come through a list of our own: the system's may have none.
prepare_apt() {
  local address suite lists=$work/apt
  suite=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  address=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $suite" |
    sort -u | head -n 1)
  mkdir -p "$lists/lists/partial" "$work/packages"
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
    "${address:-http://deb.debian.org/debian}" "$suite" >"$lists/sources.list"
  apt_options=(-qq -o "Dir::Etc::SourceList=$lists/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$lists/lists" -o "Dir::Cache=$lists" -o APT::Sandbox::User=root)
  quietly "$work/apt.log" apt-get "${apt_options[@]}" update
}

# Fetches source packages and unpacks them.
fetch_sources() {
  (cd "$work/packages" && quietly "$work/source.log" apt-get "${apt_options[@]}" source "$@")
}

# The folder that a source package was unpacked into.
unpacked() {
  local folders=("$work/packages/$1"-*/)
  printf '%s' "${folders[0]}"
}

# The archive has 164 MB; of it three sources and their headers are unpacked, once for all systems: $llvm_folder/llvm
fetch_llvm_demangler() {
  local fresh=$llvm_folder.new archives
  [[ ! -d $llvm_folder ]] || return 0
  rm -rf "$fresh"
  mkdir -p "$fresh"
  (cd "$fresh" &&
    quietly "$work/llvm.log" apt-get "${apt_options[@]}" source --download-only --tar-only "$llvm")
  archives=("$fresh/$llvm"_*.orig.tar.xz)
  quietly "$work/llvm.log" tar -xJf "${archives[0]}" -C "$fresh" --wildcards --strip-components=1 \
    '*/llvm/lib/Demangle/ItaniumDemangle*' '*/llvm/lib/Demangle/Microsoft*' '*/llvm/include/llvm/Demangle/*' \
    '*/llvm/LICENSE.TXT'
  rm "${archives[0]}"
  mv "$fresh" "$llvm_folder"
}

# Builds the library and its headers into a folder: build_llvm_demangler FOLDER AR COMPILER [OPTION...]
build_llvm_demangler() {
  local to=$1 archiver=$2 source=$llvm_folder/llvm part objects=()
  shift 2
  mkdir -p "$to/lib/LLVMDemangle" "$to/include/llvm"
  for part in ItaniumDemangle MicrosoftDemangle MicrosoftDemangleNodes; do
    objects+=("$to/lib/LLVMDemangle/$part.o")
    quietly "$work/llvm.log" "$@" -std=c++17 -O2 -DNDEBUG -I "$source/include" \
      -c "$source/lib/Demangle/$part.cpp" -o "${objects[-1]}"
  done
  "$archiver" rcsD "$to/lib/libLLVMDemangle.a" "${objects[@]}"
  rm -r "$to/lib/LLVMDemangle"
  cp -r "$source/include/llvm/Demangle" "$to/include/llvm"
}

# Debian's source of RE2 leaves out what its scripts make of Unicode's tables (unicode-data): makes it.
make_expression_tables() {
  local folder table
  folder=$(unpacked re2)re2
  perl "$folder/make_perl_groups.pl" >"$folder/perl_groups.cc"
  for table in groups casefold; do
    PYTHONDONTWRITEBYTECODE=1 python3 "$folder/make_unicode_$table.py" >"$folder/unicode_$table.cc"
  done
}
