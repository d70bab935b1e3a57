# Fields of events that a capture describes, of any provider.
cp "$folder/../../../testdata/small.v6.nettrace" "$folder/../../../testdata/small.nettrace" .
run convert small.nettrace -o small.spk --quiet
run dump small.nettrace --events-of 'Microsoft-DotNETCore-*'
run dump small.nettrace --events-of Nobody
run dump small.nettrace --events-of Nobody --json
run dump small.spk --events-of 'Microsoft-*'
run dump small.nettrace --events-of
run dump small.nettrace --events-of A --stacks
run jit small.spk
run jit small.spk --json
