# Branches of perf record -b, summed up: listings, and what a merge makes of them.
capture one.perf.data 12 --branches --build-id 0102030405060708090a0b0c0d0e0f1011121314
capture two.perf.data 7 --branches --build-id 0102030405060708090a0b0c0d0e0f1011121314 --moved 7000
capture plain.perf.data 12
run_unsized convert one.perf.data -o one.spk
run dump one.spk --branches
run dump one.spk --ranges
run dump one.spk --branches --json
run dump one.spk --ranges --json
run dump one.spk --losses
run_unsized verify one.spk
run_unsized convert two.perf.data -o two.spk --memory-limit 16M
run dump two.spk --branches
run merge one.spk two.spk -o merged.spk --quiet
run dump merged.spk --branches
run dump merged.spk --ranges
run_unsized verify merged.spk
run merge merged.spk one.spk -o again.spk --quiet
run dump again.spk --branches
run merge one.spk merged.spk -o other.spk --quiet
run dump other.spk --branches
run dump other.spk --losses
run convert one.perf.data -o redacted.spk --quiet --redact
run dump redacted.spk --branches
run convert plain.perf.data -o plain.spk --quiet
run dump plain.spk --branches
run dump one.spk --branches --pid 7
