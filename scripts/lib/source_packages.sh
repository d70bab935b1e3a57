# Debian's source packages, of which libraries are built for systems that Debian has none for. Sourced by scripts that
# set `work`, the folder that all of it is in, and have sourced setup.sh.
# shellcheck shell=bash disable=SC2154

# Of LLVM only what demangles names of Microsoft's compiler is built: that of Debian's default version.
llvm=llvm-toolchain-14

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

# The archive has 130 MB; of it two sources and their headers are unpacked: $work/llvm/llvm
fetch_llvm_demangler() {
  local archives
  mkdir -p "$work/llvm"
  (cd "$work/llvm" &&
    quietly "$work/llvm.log" apt-get "${apt_options[@]}" source --download-only --tar-only "$llvm")
  archives=("$work/llvm/$llvm"_*.orig.tar.xz)
  quietly "$work/llvm.log" tar -xJf "${archives[0]}" -C "$work/llvm" --wildcards --strip-components=1 \
    '*/llvm/lib/Demangle/Microsoft*' '*/llvm/include/llvm/Demangle/*' '*/llvm/LICENSE.TXT'
  rm "${archives[0]}"
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
