# A part of a file is a file: the same samples as the filters show of the whole.
capture demo.perf.data
run convert --quiet demo.perf.data -o demo.spk
mkdir -p root/usr/bin
elf root/usr/bin/demo main=401000+c parse=401010+10 read=401020+8
run symbolize demo.spk -o named.spk --sysroot root --quiet
run_unsized cut named.spk -o whole.spk
run verify whole.spk -q
for what in --stacks --samples --processes --threads --modules --events --losses --names --functions; do
  cmp <("$program" dump named.spk $what) <("$program" dump whole.spk $what) && echo "same $what"
done
# It is not the capture, but says of which it is.
"$program" dump named.spk --metadata >before
"$program" dump whole.spk --metadata >after
diff before after
# By time, process, event, function.
run cut named.spk --to +1ms -o time.spk -q
run verify time.spk -q
cmp <("$program" export named.spk --format folded -o - -q --to +1ms) <("$program" export time.spk --format folded -o - -q) && echo the same
run dump time.spk --samples
run cut named.spk --focus read -o read.spk -q
run verify read.spk -q
run top read.spk
run top named.spk --focus read
run cut named.spk --ignore read -o rest.spk -q
run top rest.spk
# A part of a part; of counts; of a merged file.
run cut whole.spk --focus read -o again.spk -q
cmp <("$program" dump read.spk --samples) <("$program" dump again.spk --samples) && echo the same
run convert --quiet demo.perf.data -o counts.spk --no-samples
run cut counts.spk -o counts_part.spk -q
run verify counts_part.spk -q
cmp <("$program" dump counts.spk --stacks) <("$program" dump counts_part.spk --stacks) && echo the same
run merge named.spk counts.spk -o merged.spk -q
run cut merged.spk -o merged_part.spk -q
run verify merged_part.spk -q
# Nothing is written over what is read, and nothing where no sample is left.
run cut named.spk -o named.spk --force
run cut named.spk --pid 4000000 -o none.spk
ls none.spk
run cut demo.perf.data -o part.spk
head -c 900 named.spk >short.spk
run cut short.spk -o part.spk
echo text >text
run cut named.spk -o text
