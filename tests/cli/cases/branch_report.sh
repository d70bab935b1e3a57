# The hottest branches and loops of perf record -b, named by files with symbols.
mkdir -p root/tmp/loop
cp "$folder/../../../testdata/branches/loop" root/tmp/loop/loop
cp "$folder/../../../testdata/branches/loop.perf.data.gz" loop.gz
capture one.perf.data 12 --branches
run branches loop.gz --sysroot root
run branches loop.gz --sysroot root -n 1 --json
run branches loop.gz --no-symbolize -n 2
run branches one.perf.data --no-symbolize --sort mispredicted
capture plain.perf.data 12
run branches plain.perf.data
