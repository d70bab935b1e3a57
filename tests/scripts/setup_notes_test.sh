#!/bin/bash
# The first set-up takes minutes: whatever standard error is, a line says that it began, and one for
# each stage. When nothing has to be done, nothing is said.
set -euo pipefail
source_folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
# A cmake that configures and builds at once.
cat >"$work/bin/cmake" <<'CMAKE'
#!/bin/bash
[[ $1 == --build ]] || touch "$STAND_IN/build/release/build.ninja"
CMAKE
chmod +x "$work/bin/cmake"

# shellcheck source=scripts/lib/setup.sh
source "$source_folder/scripts/lib/setup.sh"
root=$work
export STAND_IN=$work PATH=$work/bin:$PATH
build_preset release all 2>"$work/first"
build_preset release all 2>"$work/second"
grep -q 'configuring release' "$work/first" || { echo 'no line says that it is configured'; exit 1; }
grep -q 'building release' "$work/first" || { echo 'no line says that it is built'; exit 1; }
[[ ! -s $work/second ]] || { echo "said although all was there: $(cat "$work/second")"; exit 1; }
