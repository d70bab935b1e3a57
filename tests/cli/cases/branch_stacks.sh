# Whole branch stacks of perf record -b: kept when asked for, listed, and what other commands make of them.
capture one.perf.data 6 --branches --build-id 0102030405060708090a0b0c0d0e0f1011121314
capture both.perf.data 3 --branches --memory
capture plain.perf.data 12
run convert one.perf.data -o without.spk --quiet
run dump without.spk --branch-stacks
run convert one.perf.data -o without.spk --quiet --skip-existing --keep-branches
run dump without.spk --branch-stacks
run convert one.perf.data -o one.spk --quiet --keep-branches
run dump one.spk --branch-stacks
run dump one.spk --branch-stacks --limit 2
run dump one.spk --branch-stacks --json --limit 1
run dump one.spk --sample-fields
run dump one.spk --losses
run_unsized verify one.spk
run convert both.perf.data -o both.spk --quiet --keep-branches
run dump both.spk --branch-stacks
run dump both.spk --sample-fields
run_unsized verify both.spk
run convert one.perf.data -o narrow.spk --quiet --keep-branches --memory-limit 16M
run dump narrow.spk --branch-stacks --limit 1
run cut one.spk --tid 100 -o cut.spk --quiet
run dump cut.spk --branch-stacks
run_unsized verify cut.spk
run redact one.spk -o redacted.spk --quiet
run dump redacted.spk --branch-stacks --limit 1
run_unsized verify redacted.spk
run merge one.spk both.spk -o merged.spk --quiet
run dump merged.spk --branch-stacks
run dump merged.spk --modules
run dump merged.spk --losses
run_unsized verify merged.spk
run merge both.spk one.spk -o swapped.spk --quiet
cmp merged.spk swapped.spk && echo same
run merge merged.spk both.spk -o again.spk --quiet
cmp merged.spk again.spk && echo same
run merge one.spk both.spk -o narrow_merge.spk --quiet --memory-limit 16M
cmp merged.spk narrow_merge.spk && echo same
run merge one.spk both.spk -o counts.spk --quiet --no-samples
run dump counts.spk --losses
run convert plain.perf.data -o plain.spk --quiet --keep-branches
run dump plain.spk --branch-stacks
run merge plain.spk one.spk -o partly.spk --quiet
run dump partly.spk --branch-stacks --limit 1
run_unsized verify partly.spk
run convert one.perf.data -o rebased.spk --quiet --keep-branches --rebase
run dump rebased.spk --branch-stacks --limit 1
run convert one.perf.data -o no.spk --keep-branches --no-samples
run convert one.perf.data -o no.spk --keep-branches --no-sample-fields
