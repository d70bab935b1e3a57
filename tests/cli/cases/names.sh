# What frames are called: show, dump --names, top, callers, callees.
printf 'main;parse;read 5\nmain;parse;parse;alloc 3\nmain;draw 2\n' > demo.folded
run convert --quiet demo.folded -o demo.spk
run top demo.spk
run top demo.spk --total -n 2
run top demo.folded demo.spk --by module
run top demo.spk --by callstack
run top demo.spk --json
run callers demo.spk parse
run callees demo.spk parse
# A tree of calls; callstacks and frames chosen by functions.
run top demo.spk --tree
run top demo.spk --tree -n 2 --json
run top demo.spk demo.folded --tree
run top demo.spk --focus parse --hide alloc
run top demo.spk --ignore 'r*'
run top demo.spk --focus '/(/'
run top demo.spk --by comm
run top demo.spk --by file
# Folders, and lists.
mkdir folder
cp demo.spk folder/one.spk
cp demo.folded folder/two.folded
run top folder -n 1
find folder -name '*.spk' >list
run top --files-from list -n 1
mkdir empty
run top empty
run top
run callers demo.spk nobody
# Functions as people type them.
printf 'main;app::Engine<int>::apply(int);vfs_write 5\nmain;app::Engine<long>::apply(long);ksys_write 3\nmain;write 2\n' > typed.folded
run callers typed.folded Engine::apply
run callers typed.folded '*write*'
run callers typed.folded write
run callees typed.folded '/^app::/' --json
run callers typed.folded aply
run callers typed.folded engine
run callers typed.folded '/(/'
run show demo.spk 0
run show demo.spk 0 --frames address
run show demo.spk 0 --frames module
run dump demo.spk --names
run dump demo.spk --functions
capture demo.perf.data
run top demo.perf.data
run top demo.perf.data --frames module --by function -n 3
run top demo.perf.data --by event
run top demo.perf.data --by thread --event nothing
ls
