# stats --check: what holds, what does not, and what is no condition.
capture demo.perf.data
run convert demo.perf.data -o demo.spk
check() {
  run stats demo.spk "$@" | grep -v '^  '
}
check --check 'samples.total==12' --check 'events.cpu-clock.samples == 12' --check 'losses.bad_samples==0'
check --check 'samples.total>=100' --check 'losses.recorder_lost_events==0'
check --check 'samples.total>=100' --check 'callstacks.unique<3'
check --check 'samples.totle>=100'
check --check 'losses.typo==0' --check 'source.skipped_by_reason.typo==0' --check 'losses.missing_buffers==0'
check --check 'nonsense'
check --check 'losses.typo==0'
check --check 'losses.bad_sampels==0'
check --check 'source.skipped_by_reason.bad_recrds==0'
check --check 'source.skipped_by_reason.bad_records==0'
echo 'quiet'
run stats demo.spk -q
run stats demo.spk demo.spk -q --json --check 'samples.total>=100'
echo 'straight on a capture'
run stats demo.perf.data --check 'samples.total!=12' | grep -v '^  '
ls
