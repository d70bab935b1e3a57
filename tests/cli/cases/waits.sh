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
