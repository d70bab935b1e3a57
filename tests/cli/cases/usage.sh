# The command line itself: what is refused, and what is suggested.
run
run convrt
run --help
run help topics
run help format
run help exit-codes
run help formt
run stats
run dump --stacks
run dump x.spk
run dump x.spk --stacks --samples
run dump x.spk --stakcs
run convert
run convert in.data
run convert a b -o out.spk
run convert a -o out.spk --out-dir d
run convert a -o - --json
run convert a -o out.spk --level 23
run convert a -o out.spk --level high
run convert a -o out.spk --format pref
run convert a -o out.spk --memory-limit lots
run convert a -o out.spk --memory-limit 1MiB
run convert a -o out.spk --recursive
run show x.spk
run show x.spk abc
run help completions tcsh
run --verison
run -v
: >perf.data
run perf.data
run convert a -o
run convert a -o x -o y
run_unsized convert a -o out.spk --json=7
run convert a -o out.spk -j 0
run convert a -o out.spk --encoders -1
run export x.spk -o y
run export x.spk --to folded
run export x.spk --to folded -o y z
run dump a.spk b.spk --stacks
run verify
run show x.spk 1 --from x
run show x.spk 1 --pid -3
[[ $("$program" -V) == $("$program" --version) ]] && echo 'same version'
