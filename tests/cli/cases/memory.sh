# Accesses to memory: fields of samples, and where latency comes from.
capture one.perf.data 20 --memory --build-id 0102030405060708090a0b0c0d0e0f1011121314
capture two.perf.data 7 --memory --build-id 0102030405060708090a0b0c0d0e0f1011121314 --moved 7000
capture plain.perf.data 12
run_unsized convert one.perf.data -o one.spk
run dump one.spk --sample-fields
run dump one.spk --losses
run_unsized verify one.spk
run mem one.spk
run mem one.spk --order shared --limit 1
run mem two.perf.data --limit 1 --json --no-symbolize
run_unsized convert two.perf.data -o two.spk --memory-limit 16M
run merge two.spk one.spk -o merged.spk --quiet
run dump merged.spk --sample-fields
run_unsized verify merged.spk
run merge two.spk one.spk -o counts.spk --quiet --no-samples
run dump counts.spk --losses
run dump counts.spk --sample-fields
run cut one.spk --tid 100 -o cut.spk --quiet
run dump cut.spk --losses
run dump cut.spk --sample-fields
run_unsized verify cut.spk
run redact one.spk -o redacted.spk --quiet
run dump redacted.spk --sample-fields --json
run_unsized convert one.perf.data -o without.spk --no-sample-fields
run dump without.spk --losses
run mem without.spk
run mem plain.perf.data
run mem one.spk --tid 101 --to +2ms --limit 1
run mem one.spk --comm worker --limit 1 --order count
run mem one.spk --event nothing
# Data symbols, by the symbol table of the image: its code is mapped that far up.
elf demo --build-id 0102030405060708090a0b0c0d0e0f1011121314 work=401000+30 table:data=601000+9 next:data=601010+8 flag:data=602008+8
mkdir files && mv demo files
capture vars.perf.data 20 --memory --build-id 0102030405060708090a0b0c0d0e0f1011121314 --moved 7effffa00000
run mem vars.perf.data --by symbol --symbols files
run mem vars.perf.data --by symbol --symbols files --limit 1 --order count
run mem one.spk --by symbol
run mem one.spk --by nothing
