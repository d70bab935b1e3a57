# Times that are rounded on request, and what says so.
capture demo.perf.data
run convert demo.perf.data -o exact.spk -q
run convert demo.perf.data -o rounded.spk -q --time-resolution 1ms
run dump exact.spk --samples
run dump rounded.spk --samples
run dump rounded.spk --metadata
"$program" stats rounded.spk | grep -E '^(duration|times)'
run stats rounded.spk --check 'recording.time_resolution_ns==1000000' -q
run stats exact.spk --check 'recording.time_resolution_ns==1000000' -q
run verify rounded.spk

# All that is not a time is the same.
for what in --stacks --processes --threads --modules --events --losses --names; do
  cmp <("$program" dump exact.spk $what) <("$program" dump rounded.spk $what) && echo "same $what"
done
for form in folded pprof; do
  "$program" export exact.spk --format $form -o exact.$form -q
  "$program" export rounded.spk --format $form -o rounded.$form -q
done
cmp exact.folded rounded.folded && echo same folded
cmp <("$program" top exact.spk) <("$program" top rounded.spk) && echo same top

# One nanosecond is none; other options are the same file, and another resolution is another one.
"$program" convert demo.perf.data -o ns.spk -q --time-resolution 1ns
cmp exact.spk ns.spk && echo same bytes
"$program" convert demo.perf.data -o again.spk -q --time-resolution 1000us --encoders 0
cmp rounded.spk again.spk && echo same bytes
mkdir out
run convert demo.perf.data --out-dir out --time-resolution 1ms -q
run_unsized convert demo.perf.data --out-dir out --time-resolution 1ms --skip-existing
run_unsized convert demo.perf.data --out-dir out --time-resolution 10us --skip-existing
run merge exact.spk -o merged.spk -q --time-resolution 0.5ms
"$program" dump merged.spk --metadata | grep time_resolution
"$program" convert demo.perf.data -o rebased.spk -q --rebase --time-resolution 500us
cmp merged.spk rebased.spk && echo same bytes

for span in 0us 5 us 1min 2mss 0.5ns -1us 61s nan 1e3us ''; do
  run convert demo.perf.data -o x.spk --time-resolution "$span"
done
run convert demo.perf.data -o x.spk --time-resolution 1us --no-samples
