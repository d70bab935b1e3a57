# An interrupted run leaves no partial file, keeps what was there, says what was done, and ends by the
# signal.
capture a.perf.data 5
capture b.perf.data 6
mkfifo endless
mkdir out
"$program" convert b.perf.data -o out/endless.spk -q
cp out/endless.spk old.spk
sleep 100 >endless &
feeder=$!
# A shell lets its background jobs ignore SIGINT; SIGTERM is handled alike.
"$program" convert a.perf.data endless b.perf.data --out-dir out -j 1 --skip-existing 2>err >out.txt &
job=$!
for _ in {1..600}; do [[ -e out/a.perf.data.spk ]] && break; sleep 0.05; done
sleep 0.2
kill -TERM $job
wait $job
echo "= $?"
kill $feeder
sed -E 's/ to .*//' err
cat out.txt
ls -A out
cmp out/endless.spk old.spk && echo 'the old one'
run verify out/a.perf.data.spk --quiet
