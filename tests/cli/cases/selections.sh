# Filters, times in the spelling of listings, and the choice of an event.
capture demo.perf.data
run convert demo.perf.data -o demo.spk -q
run export demo.spk --format folded -o -
run export demo.spk --to folded -o - --tid 101 --from 5.000750000 --to +2ms
run export demo.spk --format folded -o - --module '[kernel*' --cpu 0
run export demo.spk --format folded -o - --exclude-comm worker --frames address
run dump demo.spk --stacks --comm worker
run dump demo.spk --samples --from 5.001000000 --to 5.001250000
run dump demo.spk --modules --pid 100
run stats demo.spk --exclude-module '*kernel*'
run show demo.spk 0 --from +1s
run export demo.spk -o out
run export demo.spk -o out --to foldde
run export demo.spk -o out --format folded --from 1481.0.1
run export demo.spk -o out --format folded --event cycles

# Two events in one capture do not add up.
cp "$folder/../../../testdata/events.perf.data" .
run convert events.perf.data -o events.spk -q
run dump events.spk --events
run export events.spk --format folded -o one.folded
run export events.spk --format folded -o all.folded --all-events
run export events.spk --format pprof -o one.pb.gz -q

# What figures count, and what is not shown.
run top events.spk --by module
run top events.spk --by module --event page-faults
run top events.spk --by module --event page-faults --count samples
run top events.spk --by event
run top events.spk --by event --count weight
run export events.spk --format folded -o samples.folded --event page-faults --count samples
run export events.spk --format folded -o weights.folded --event page-faults --weight period
run top events.spk demo.spk --by module -n 2 --json
run top events.spk --by module --event cycles
run top events.spk --by module --count seconds

# What other profilers counted.
printf 'main;work 10\nmain;rest 5\nidle 100\n' >a.folded
run convert a.folded -o a.spk -q
run dump a.spk --stacks
run dump a.spk --stacks --json --module idle
