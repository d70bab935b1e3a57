# Many captures in one file.
capture demo.perf.data
capture longer.perf.data 9
run convert --quiet demo.perf.data -o demo.spk
run merge demo.spk longer.perf.data -o all.spk
run verify all.spk
run dump all.spk --sources
run dump all.spk --processes
run dump all.spk --modules
run dump all.spk --samples --json
run dump all.spk --stacks
run top all.spk
run top all.spk --by source
run top all.spk demo.spk --by source --json
# Whatever the order, and however often.
run merge longer.perf.data demo.spk -o again.spk --quiet
run merge all.spk demo.spk longer.perf.data -o twice.spk
cmp all.spk again.spk && cmp all.spk twice.spk && echo the same
run merge demo.spk longer.perf.data --no-samples -o counts.spk --json
run dump counts.spk --stacks
# One capture.
run convert --quiet --rebase demo.perf.data -o rebased.spk
run merge --quiet demo.perf.data -o one.spk
cmp rebased.spk one.spk && echo the same
for more in "" --no-samples "" --quiet; do
  # shellcheck disable=SC2086
  "$program" convert --json --rebase --skip-existing $more demo.perf.data -o rebased.spk | grep -o '"result":"[a-z]*"'
done
run merge demo.spk -o one.spk
# Bad inputs.
head -c 700 demo.spk > cut.spk
run merge demo.spk cut.spk longer.perf.data -o some.spk
run merge demo.spk cut.spk longer.perf.data nothing.spk -o some.spk --keep-going
cmp some.spk all.spk && echo the same
run merge cut.spk nothing.spk -o none.spk --keep-going
printf 'main;parse 5\n' > demo.folded
run merge demo.spk demo.folded -o none.spk --keep-going
printf 'main;parse 5\nmain;draw 1\n' > other.folded
run merge demo.folded other.folded -o folded.spk
run top folded.spk
# Two of the same shape, and one of them again.
printf 'main;write 5\n' > write.folded
run merge demo.folded write.folded demo.folded -o shapes.spk
run top shapes.spk
run merge demo.spk -o demo.spk
echo text > notes.txt
run merge demo.spk -o notes.txt
run merge -o none.spk
run merge demo.spk
run merge --help
