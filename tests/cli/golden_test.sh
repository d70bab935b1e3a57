#!/bin/bash
# Runs one golden case and compares its transcript with the stored one, byte for byte.
#   golden_test.sh PROGRAM cases/NAME.sh
# STACKPACK_REWRITE=1 stores what the program says now instead (see scripts/update-golden).
#
# A case is a script that calls `run ARGUMENTS...`; the comment at its head, why its texts are kept, begins the transcript. A call
# has there the command, with its exit code where that is not 0, its standard output and its standard error; one that has nothing to
# say is left out, and so is that a file is sound. Of long answers only the first rows are there, unless a case sets `rows=1000`: what
# their figures are is for tests/model and figures_test.py.
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

# How many rows of an answer people look at: few of those that a model decides.
rows_shown() {
  case $1 in
  dump) echo 1 ;;
  top | callers | callees | export | stats | show | mem | branches | gc | exceptions | io | locks) echo 2 ;;
  *) echo 4 ;;
  esac
}

# The first rows, after a mark; of tables without their heads, which longer answers show.
first_rows() {
  awk -v most="$1" -v mark="$2" 'most == 1000 || NF && !(most < 4 && /^ +self% /) { if (++rows <= most) print mark $0 }'
}

# Says of a file with more rows than are shown how many it has.
rows_of() {
  local count
  count=$(grep -c . "$1")
  ((count <= $2)) || printf ' (%d %s)' "$count" "$3"
}

# What a command writes, verify accepts; what it says else becomes a part of the transcript.
verify_written() {
  local written
  mapfile -t written < <(find . -name '*.spk' -type f -newer "$before")
  [[ ${#written[@]} -eq 0 ]] || "$program" verify -q "${written[@]}" 2>&1 | sed 's/^/! verify: /'
}

run() {
  touch "$before"
  "$program" "$@" >.out 2>.err
  local code=$? most=${rows:-$(rows_shown "${1:-}")} said=${rows:-4}
  if [[ $code == 0 && ! -s .err && (! -s .out || ${1:-} == verify) ]]; then
    verify_written
    return
  fi
  printf '$ stackpack %s' "$*"
  ((code == 0)) || printf ' = %d' "$code"
  rows_of .out "$most" lines
  rows_of .err "$said" messages
  echo
  first_rows "$most" '  ' <.out
  first_rows "$said" '! ' <.err
  verify_written
}

# What differs from run to run, or with every change of how things are packed, is left out: seconds,
# sizes of .spk files and the ratios with them. cases/packed_sizes.sh has the sizes.
run_unsized() {
  run "$@" | sed -E 's/ to [0-9.]+ [KMi]*B \([0-9.]+x\)/ to SIZE/; s/, [0-9.]+ s$/, TIME/
    s/"seconds":[0-9.e-]+/"seconds":0/g; s/"output_bytes":[0-9]+/"output_bytes":0/g
    s/"(dag|total|file)":[0-9.]+/"\1":0/g; s/, [0-9,]+ bytes\)/, SIZE)/'
}

# What Windows says otherwise is stored of whole answers.
rows=
[[ ! -e $tests/windows/differences/$(basename "${case%.sh}").txt ]] || rows=1000

sed '/^[^#]/,$d' "$case" >transcript.txt
# shellcheck source=/dev/null
source "$case" >>transcript.txt 2>&1
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
