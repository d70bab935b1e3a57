# Reports of captures that are not whole say so, in a line each and in JSON; of others nothing.
capture whole.perf.data 12
head -c 1500 whole.perf.data >cut.perf.data
capture lost.perf.data 6 --lost 41
run convert cut.perf.data -o cut.spk -q
notices() {
  run "$@" | grep -oE '"notices":\[[^]]*\]|^([$!=]) .*'
}
run top whole.perf.data
run top cut.perf.data
run callers cut.spk /./ -n 1
run callees cut.spk /./ -n 1
run top cut.spk --tree -n 1
run top lost.perf.data -n 1
run top cut.spk lost.perf.data whole.perf.data -n 1
run export cut.spk --format folded -o -
run export cut.spk --format folded -o - -q
run diff whole.perf.data --against cut.spk lost.perf.data -n 1
notices top cut.spk --json
notices top whole.perf.data --json
notices top cut.spk lost.perf.data --json
notices callers cut.spk /./ --json
notices export cut.spk --format folded -o cut.folded --json
notices export cut.spk lost.perf.data --format html -o cut.html --json
notices diff whole.perf.data --against cut.spk --json
# Dumps that nobody unwound, and such as were.
cp "$folder"/../../../testdata/unwind/dumps.data "$folder"/../../../testdata/unwind/framed .
run convert dumps.data -o dumps.spk -q
run top dumps.spk -n 1
run convert dumps.data -o unwound.spk -q --unwind --sysroot . --symbols .
run top unwound.spk -n 1
# A comment on a change says so, too.
run diff whole.perf.data --against cut.spk --markdown -n 1
