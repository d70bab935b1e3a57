# Files that have the name of a capture and are none are failures, with a name and a reason; other
# files are passed over, and -v names them.
mkdir -p in/sub out
: >in/empty.perf.data
head -c 5000 /dev/zero | tr '\0' '\377' >in/sub/noise.etl
echo 'not a capture at all, much too short' >in/perf.data.old
echo 'no archive' >in/x.diagsession
ln -s nowhere in/gone.perf.data
echo 'notes' >in/notes.txt
mkfifo in/fifo.perf.data
capture in/good.perf.data 5
run_unsized convert in --recursive --out-dir out -j 1 --json -v
run_unsized convert in --recursive --out-dir out -j 1 --quiet
# Outputs beside their captures are not taken for captures.
mkdir beside
capture beside/perf.data 5
run_unsized convert beside --recursive --out-dir beside -j 1
run_unsized convert beside --recursive --out-dir beside -j 1 --skip-existing
# A folder without any.
mkdir nothing
run convert nothing --recursive --out-dir out
