# Several traces of one recording, read as one.
cp "$folder/../../../testdata/sampled.x64.etl" a.etl
cp "$folder/../../../testdata/sampled.x64.keys.xpress.etl" b.etl
cp "$folder/../../../testdata/tiny.perf.data" .
run_unsized convert --session a.etl b.etl -o ab.spk --json
run_unsized convert --session b.etl a.etl -o ba.spk
cmp ab.spk ba.spk && echo same
run verify ab.spk | sed 's/, [0-9,]* bytes//'
run convert --session b.etl a.etl -o ab.spk --skip-existing
# What makes no sense.
run convert a.etl b.etl -o out.spk
run convert --session a.etl b.etl --out-dir out
run convert --session a.etl --member b -o out.spk
run convert --session a.etl tiny.perf.data -o out.spk
run convert --session tiny.perf.data -o out.spk
run convert --session a.etl missing.etl -o out.spk
: >empty.etl
run_unsized convert --session a.etl empty.etl -o part.spk --strict
ls out.spk
