# Waits of a capture with switches: sums, runs, filters.
capture one.perf.data 12 --switches
capture plain.perf.data 12
run_unsized convert one.perf.data -o one.spk
run dump one.spk --intervals
run dump one.spk --intervals --tid 101 --from +1ms --to +2ms
run dump one.spk --intervals --comm demo
run waits one.spk
run waits one.perf.data --state blocked --longer-than 50us
run waits one.spk --state preempted --thread work*
run waits one.spk --from +1ms --to +2ms --json
run waits one.spk --list
run waits one.spk --list --thread worker --longer-than 30us --state '?' --json
run waits one.spk --list --from 6.5 --to 5.5
run waits one.spk --longer-than 10
run waits plain.perf.data
run top one.spk --event blocked
run top one.spk --event blocked --event preempted --by thread
run top one.spk --event blocked --longer-than 50us --by callstack
run top one.spk --longer-than 50us
run top one.spk --event context-switches
run callers one.spk demo+0x1000 --event blocked --frames module
run export one.spk --format folded --event blocked -o -
run export one.spk --format folded --event blocked --from +1ms --to +2ms -o -
run dump one.spk --stacks --event blocked
capture two.perf.data 5 --switches --moved 7000
run convert two.perf.data -o two.spk --quiet
run merge one.spk two.spk -o merged.spk --quiet
run dump merged.spk --intervals --from 0
run_unsized verify merged.spk
run top merged.spk --event blocked --by process
run merge two.spk one.spk -o other.spk --quiet
cmp merged.spk other.spk && echo '# the order of inputs does not matter'
run merge one.spk two.spk -o counts.spk --no-samples --quiet
run dump counts.spk --losses
