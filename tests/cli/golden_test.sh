#!/bin/bash
# Runs one golden case and compares its transcript with the stored one, byte for byte.
#   golden_test.sh PROGRAM cases/NAME.sh
# STACKPACK_REWRITE=1 stores what the program says now instead (see scripts/update-golden).
#
# A case is a script that calls `run ARGUMENTS...`. A transcript has, per call, the command, its
# standard output, its standard error and its exit code.
set -uo pipefail
tests=$(realpath "$(dirname "$0")/..")
program=$(realpath "$1")
case=$(realpath "$2")
expected=${case%.sh}.expected
folder=$(dirname "$case")
work=$(mktemp -d)
before=$(mktemp)
trap 'rm -rf "$work" "$before" "${launcher:-}"' EXIT
cd "$work" || exit 1

# A program for Windows is run by wine. What it says otherwise, and why, is stored for each case.
differences=
if [[ $program == *.exe ]]; then
  export STACKPACK_WINE_PREFIX=${STACKPACK_WINE_PREFIX:-$HOME/.cache/stackpack/wine}
  launcher=$(mktemp)
  printf '#!/bin/bash\nexec %q %q "$@"\n' "$tests/windows/wine_program.sh" "$program" >"$launcher"
  chmod +x "$launcher"
  program=$launcher
  differences=$tests/windows/differences/$(basename "${case%.sh}").txt
fi

# What a test may not depend on.
export LC_ALL=C TZ=UTC NO_COLOR= HOME=$work TMPDIR=$work
unset STACKPACK_CORPUS

capture() {
  python3 "$folder/../make_capture.py" "$@"
}

elf() {
  python3 "$folder/../make_elf.py" "$@"
}

transcript() {
  sed "s/^/$1/"
}

# What a command writes, verify accepts; what it says else becomes a part of the transcript.
verify_written() {
  local written
  mapfile -t written < <(find . -name '*.spk' -type f -newer "$before")
  [[ ${#written[@]} -eq 0 ]] || "$program" verify -q "${written[@]}" 2>&1 | transcript '! verify: '
}

run() {
  printf '$ stackpack %s\n' "$*"
  touch "$before"
  "$program" "$@" >.out 2>.err
  local code=$?
  transcript '  ' <.out
  transcript '! ' <.err
  printf '= %d\n' "$code"
  verify_written
}

# What differs from run to run, or with every change of how things are packed, is left out: seconds,
# sizes of .spk files and the ratios with them. cases/packed_sizes.sh has the sizes.
run_unsized() {
  run "$@" | sed -E 's/ to [0-9.]+ [KMi]*B \([0-9.]+x\)/ to SIZE/; s/, [0-9.]+ s$/, TIME/
    s/"seconds":[0-9.e-]+/"seconds":0/g; s/"output_bytes":[0-9]+/"output_bytes":0/g
    s/"(dag|total|file)":[0-9.]+/"\1":0/g; s/, [0-9,]+ bytes\)/, SIZE)/'
}

# shellcheck source=/dev/null
source "$case" >transcript.txt 2>&1
if [[ -n $differences ]]; then
  touch stored.txt
  [[ ! -e $differences ]] || grep -v '^#' "$differences" >stored.txt
  diff "$expected" transcript.txt | grep '^[<>]' >differences.txt
  if [[ -n ${STACKPACK_REWRITE:-} && -s differences.txt ]]; then
    { grep -s '^#' "$differences"; cat differences.txt; } >kept.txt
    cp kept.txt "$differences"
  elif ! diff -u --label stored --label now stored.txt differences.txt; then
    diff -u --label expected --label now "$expected" transcript.txt
    exit 1
  fi
elif [[ -n ${STACKPACK_REWRITE:-} ]]; then
  cp transcript.txt "$expected"
elif ! diff -u --label expected --label now "$expected" transcript.txt; then
  echo "if the change is wanted: scripts/update-golden"
  exit 1
fi
