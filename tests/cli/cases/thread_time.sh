# Samples of threads as time: each lasts until the next one of its thread.
cp "$folder/../../../testdata/small.nettrace" small.nettrace
run_unsized convert small.nettrace -o small.spk
run top small.spk --event thread-time
run top small.nettrace --event thread-time --total --json
run top small.spk --event thread-time --by thread
run top small.spk --event thread-time --tid 8
run top small.spk --event thread-time --from +1ms --to +2ms
run top small.spk --event thread-time --event Managed --by event
run top small.spk --event thread-time --event Managed --by event --count samples
run callers small.spk App.Parser.Parse --event thread-time
run export small.spk --format folded --event thread-time --with-process -o -
run dump small.spk --events
cp "$folder/../../../testdata/tiny.perf.data" tiny.data
run top tiny.data --event thread-time
