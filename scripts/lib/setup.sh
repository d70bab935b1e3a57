# What scripts/run, scripts/test and .ci/run share. Sourced, not run.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=scripts/lib/packages.sh
source "$root/scripts/lib/packages.sh"

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 70
}

# Says on standard error what takes long now, and how long it took so far: a log that stands still for
# minutes looks like a hang. Nothing is said where nothing has to be installed or built.
note() {
  printf '%s: %s (%d s)\n' "${0##*/}" "$*" "$SECONDS" >&2
}

# Runs a command; its output goes to a log, and to standard error only if the command fails.
quietly() {
  local log=$1
  shift
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    fail "failed: $*"
  fi
}

# Prints those of the given packages that are not installed.
missing_packages() {
  local package
  declare -A installed=()
  while read -r package; do
    installed[${package%:*}]=1
  done < <(dpkg-query -W -f='${db:Status-Abbrev} ${binary:Package}\n' "$@" 2>/dev/null |
    sed -n 's/^ii  *//p')
  for package in "$@"; do
    [[ -n ${installed[$package]:-} ]] || printf '%s\n' "$package"
  done
}

# Installs what is missing. Asks nothing, touches nothing when nothing is missing.
ensure_packages() {
  local missing as_root=()
  if ! command -v dpkg-query >/dev/null; then
    return # Not Debian: CMake names what it does not find.
  fi
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then
    return
  fi
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      fail "missing packages; as root, run: apt-get install ${missing[*]}"
    fi
    as_root=(sudo)
  fi
  note "installing ${#missing[@]} packages: ${missing[*]}"
  mkdir -p "$root/build"
  quietly "$root/build/apt.log" "${as_root[@]}" apt-get -qq update
  quietly "$root/build/apt.log" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install --yes --no-install-recommends "${missing[@]}"
}

# Prints the options of CMake for what this machine has: a compiler cache, a linker that is faster.
options_for_tools() {
  local linker
  if command -v ccache >/dev/null; then
    printf '%s\n' -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  for linker in mold lld; do
    if command -v "ld.$linker" >/dev/null; then
      printf '%s\n' "-DCMAKE_EXE_LINKER_FLAGS_INIT=-fuse-ld=$linker" "-DCMAKE_SHARED_LINKER_FLAGS_INIT=-fuse-ld=$linker"
      return
    fi
  done
}

# Whether a build folder is yet to be configured, or was for the program alone and the tests are wanted
# (with_tests=1).
must_configure() {
  [[ ! -f $1/build.ninja ]] ||
    { ((${with_tests:-0})) && grep -q '^STACKPACK_TESTS:[A-Z]*=OFF' "$1/CMakeCache.txt"; }
}

# Reads what ninja prints and says how long the rest will take on this machine: once, when a tenth is done; on a
# terminal, in one line that is kept up to date.
say_how_long() {
  local line begin=$SECONDS finished all minutes said=0
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    finished=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
    ((finished > 0)) || continue
    minutes=$(((SECONDS - begin) * (all - finished) / finished / 60))
    if [[ -t 2 ]]; then
      printf '\r%s: %d of %d steps, %d min left \033[K' "${0##*/}" "$finished" "$all" "$((minutes + 1))" >&2
    elif ((!said && finished * 10 >= all && minutes > 0)); then
      note "about $((minutes + 1)) minutes left"
      said=1
    fi
  done
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
}

# Configures (when that was not done yet) and builds targets of a preset: build_preset NAME TARGET... With
# with_tests=1, release has the tests, too.
build_preset() {
  local preset=$1
  shift
  local folder=$root/build/$preset options tests first=0
  mkdir -p "$folder"
  # Two runs at once must not build in one folder.
  exec {build_lock}>"$folder/.lock"
  flock "$build_lock"
  if must_configure "$folder"; then
    first=1
    mapfile -t options < <(options_for_tools)
    if [[ $preset == release ]]; then
      tests=OFF
      ((${with_tests:-0})) && tests=ON
      options+=("-DSTACKPACK_TESTS=$tests" "-DSTACKPACK_WERROR=${STACKPACK_WERROR:-OFF}")
    fi
    note "configuring $preset"
    quietly "$folder/configure.log" cmake -S "$root" --preset "$preset" "${options[@]}"
    note "building $preset on $(nproc) processors"
  elif [[ -t 2 ]]; then
    note "bringing $preset up to date"
  fi
  if ! NINJA_STATUS='[%f/%t] ' cmake --build "$folder" --target "$@" -- -k "${keep_going:-1}" 2>&1 | tee "$folder/build.log" | say_how_long; then
    cat "$folder/build.log" >&2
    fail "building $preset failed"
  fi
  if ((first)); then
    note "built $preset"
  fi
  exec {build_lock}>&-
}

# Prints a line for each test that CTest's log calls skipped, with the reason that the test printed last.
skipped_tests() {
  awk '
    / Testing: / { name = $NF }
    /^-+$/ { inside = 1; next }
    /^<end of output>/ { inside = 0 }
    inside && NF { reason = $0 }
    /^Test Skipped/ { printf "skipped: %s: %s\n", name, reason }
  ' "$1/Testing/Temporary/LastTest.log"
}

# Runs the tests of a preset and prints what was not tested, and why, and the closing lines of CTest; all of it
# when a test fails: test_preset NAME [OPTION OF CTEST...]
test_preset() {
  local folder=$root/build/$1 log=$root/build/$1/test.log all
  note "running the tests of $1"
  if ctest --test-dir "$folder" --output-on-failure --no-tests=error --parallel "$(nproc)" "${@:2}" \
    >"$log" 2>&1; then
    skipped_tests "$folder"
    if [[ " ${*:2} " == *' --label-exclude slow|scheduled '* ]]; then
      all=$(ctest --test-dir "$folder" -N -L slow | sed -n 's/^Total Tests: //p')
      printf 'left out: %s slow tests, of what seldom breaks; scripts/test --all runs them, too\n' "$all"
    fi
    sed -n '/^[0-9]*% tests passed/,$p' "$log"
  else
    cat "$log" >&2
    fail "tests of preset $1 failed"
  fi
}
