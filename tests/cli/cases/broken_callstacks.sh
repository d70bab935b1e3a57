# Callstacks that end in addresses of no code are one below one box, and as recorded on request.
capture demo.perf.data --broken
run convert demo.perf.data -o demo.spk -q
mkdir -p root/usr/bin
elf root/usr/bin/demo main=401000+c parse=401010+10 read=401020+8
run symbolize demo.spk -o named.spk --sysroot root --quiet
run top named.spk --tree
run top named.spk --tree --keep-broken -n 6
run top named.spk --tree --frames address -n 2
run export named.spk --format folded -o - -q
run export named.spk --format folded -o - -q --inline --root process
run export named.spk --format folded -o - -q --keep-broken
run export named.spk --format folded -o - -q --frames module
run export named.spk --format html -o page.html -q
run export named.spk --format html -o raw.html -q --keep-broken
cmp -s page.html raw.html || echo another page
# What is recorded stays: listings, other reports.
"$program" dump named.spk --stacks | grep -c u2cdd4141a727
run top named.spk
