# Many captures in one run: bad ones are named, the rest is converted, names never collide.
mkdir -p in/sub
capture in/a.perf.data 3
capture in/sub/a.perf.data 6
capture in/b.perf.data 9
echo 'no capture' >in/notes.txt
run_unsized convert in --recursive --out-dir out -j 1
find out -type f | sort
run_unsized convert in --recursive --out-dir out -j 1 --skip-existing
capture in/b.perf.data 10
touch -d '1 hour' in/b.perf.data
run_unsized convert in --recursive --out-dir out -j 1 --skip-existing
run_unsized convert in/a.perf.data in/sub/a.perf.data --out-dir other
ls other
run_unsized convert in/a.perf.data in/sub/a.perf.data in/a.perf.data --out-dir other --names path -j 1
find other -type f | sort
printf 'in/notes.txt\nin/a.perf.data\nmissing\n' | run_unsized convert --files-from - --out-dir third -j 1 --json
ls third
