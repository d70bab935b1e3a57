# What events say: values in the file, and the reports that are made of them.
cp "$folder/../../../testdata/small.nettrace" small.nettrace
run_unsized convert small.nettrace -o small.spk
run dump small.spk --event-values
run dump small.spk --event-values --json
run gc small.spk
run gc small.spk --json
run exceptions small.spk
run exceptions small.nettrace --json
run locks small.spk
run io small.spk
run io small.spk --json --order latency
run convert small.nettrace -o redacted.spk --quiet --redact
run exceptions redacted.spk
run convert small.nettrace -o none.spk --quiet --no-samples
run dump none.spk --event-values
run_unsized convert small.nettrace -o without.spk --no-event-values
run dump without.spk --event-values
run gc without.spk
run merge small.spk -o merged.spk --quiet
run dump merged.spk --losses
run dump merged.spk --event-values
cp "$folder/../../../testdata/small.v6.nettrace" other.nettrace
run merge small.spk other.nettrace -o both.spk --quiet
run merge other.nettrace small.spk -o turned.spk --quiet
cmp both.spk turned.spk || echo "the order of the inputs shows"
run gc both.spk
run merge both.spk -o again.spk --quiet
run top again.spk --by type
run merge small.spk -o counted.spk --no-samples --quiet
run dump counted.spk --losses
run_unsized verify small.spk merged.spk
run cut small.spk -o all.spk --quiet
run dump all.spk --losses
run cut small.spk --from +1ms --to +4ms --event '*/GC/*' -o cut.spk --quiet
run dump cut.spk --event-values
run cut small.spk --focus 'App.Parser.Next*' -o focused.spk --quiet
run top focused.spk --by type
run exceptions focused.spk
run cut small.spk --pid 4321 --tid 8 -o thread.spk --quiet
run dump thread.spk --event-values
run cut small.spk --cpu 0 -o processor.spk --quiet
run dump processor.spk --losses
run gc
run gc small.spk --limit x
