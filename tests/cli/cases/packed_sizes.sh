# Sizes and ratios of a small capture: a change of how things are packed shows here and nowhere else.
rows=1000
capture demo.perf.data 3000
run convert demo.perf.data -o demo.spk
run stats demo.spk
run stats demo.spk --json
run verify demo.spk
capture other.perf.data 10
run convert other.perf.data -o other.spk
run stats demo.spk other.spk
