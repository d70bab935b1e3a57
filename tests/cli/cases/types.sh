# Which types are allocated or thrown, by whom.
cp "$folder/../../../testdata/small.nettrace" small.nettrace
run_unsized convert small.nettrace -o small.spk
run top small.spk --by type
run top small.nettrace --by type --json
run top small.spk --by type --only '*Byte*'
run top small.spk --by type --event '*Exception/Start'
run top small.spk --by type --focus 'App.Parser.Next*'
run top small.spk --by type --to +1ms
run top small.spk --type 'System.S*'
run callers small.spk 'App.Parser.Parse' --type 'System.Byte*'
run top small.spk small.nettrace --by type
run top small.spk --by type --count samples
run top small.spk --by type --event Managed
run top small.spk --type 'No.Such'
run convert small.nettrace -o none.spk --quiet --no-event-values
run top none.spk --by type
run top small.spk --by module
run merge small.spk -o merged.spk --quiet
run top merged.spk
: >empty.nettrace
run top empty.nettrace --by type
run gc empty.nettrace
run convert empty.nettrace -o out.spk
head -c 8 small.nettrace >begun.nettrace
run top begun.nettrace
head -c 40 small.nettrace >begun.nettrace
run gc begun.nettrace
