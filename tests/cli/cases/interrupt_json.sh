# The report of an interrupted batch: what is done, what was under way, what was not begun. And the
# line of a single conversion that is interrupted.
capture a.perf.data 5
capture b.perf.data 6
mkfifo endless
mkdir out
sleep 100 >endless &
feeder=$!
"$program" convert a.perf.data endless b.perf.data --out-dir out -j 1 --json 2>err >out.txt &
job=$!
for _ in {1..600}; do [[ -e out/a.perf.data.spk ]] && break; sleep 0.05; done
sleep 0.2
kill -TERM $job
wait $job
echo "= $?"
sed -E 's/ to .*//' err
python3 -c 'import json; [print(row["input"], row["result"]) for row in json.load(open("out.txt"))]'
"$program" convert endless -o single.spk 2>err &
job=$!
sleep 0.5
kill -TERM $job
wait $job
echo "= $?"
kill $feeder
cat err
ls single.spk out
