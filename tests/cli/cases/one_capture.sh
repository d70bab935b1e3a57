# The whole road on one small capture.
capture demo.perf.data
run convert demo.perf.data -o demo.spk
run_unsized verify demo.spk
run dump demo.spk --stacks
run dump demo.spk --samples
run dump demo.spk --processes
run dump demo.spk --threads
run dump demo.spk --modules
run dump demo.spk --events
run dump demo.spk --losses
run dump demo.spk --stacks --json
run dump demo.spk --modules --json
run show demo.spk 0
run show demo.spk 2 1
run show demo.spk 0 --json
run show demo.spk 4000000000
run dump demo.spk --samples --json
