# Losses and damage are reported, and --strict turns them into an exit code.
rows=1000
capture lost.perf.data 6 --lost 41
run convert lost.perf.data -o lost.spk
run convert lost.perf.data -o lost.spk --quiet
run convert lost.perf.data -o lost.spk --strict
run dump lost.spk --losses
run dump lost.spk --losses --json
capture whole.perf.data 12
head -c 1500 whole.perf.data >cut.perf.data
run convert cut.perf.data -o cut.spk --strict
run dump cut.spk --losses
run dump cut.spk --stacks
run_unsized verify cut.spk
run stats cut.spk | sed -n '1p; /passed over/,/^  $/p'
run stats cut.spk --check source.skipped_by_reason.record_cut==4 --check source.skipped_by_reason.bad_samples==0 |
  grep -v '^  '
