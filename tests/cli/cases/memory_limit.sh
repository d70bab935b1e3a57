# Limits and threads do not show in the file, and --timings has its lines. Times, waits and what the
# builder did are left out: they differ from run to run.
capture demo.perf.data 300
timed() {
  run "$@" 2>&1 | sed -E 's/[0-9]+\.[0-9]{3} s$/TIME/; s/(waits: parser )[0-9]+(, interner )[0-9]+(, merger )[0-9]+(, encoders )[0-9]+/\1N\2N\3N\4N/; s/[0-9]+ bytes (in|out)/N bytes \1/g
    s/[0-9]+ (lookups|probes|of)/N \1/g; s/of [0-9]+ frames/of N frames/'
}
timed convert demo.perf.data -o none.spk --timings
timed convert demo.perf.data -o small.spk --memory-limit 16MiB --timings
run convert demo.perf.data -o alone.spk --encoders 0
run convert demo.perf.data -o many.spk --encoders 7
run convert demo.perf.data -o refused.spk --memory-limit 16777215
sha256sum <none.spk >sum
for file in small alone many; do sha256sum <$file.spk | cmp - sum && echo "$file.spk is the same"; done
run dump small.spk --events
ls
