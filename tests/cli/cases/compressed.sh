# Captures in .gz and .zst are read as they are.
cp "$folder/../../../testdata/pipe.perf.data" "$folder/../../../testdata/tiny.perf.data" .
cp "$folder/../../../testdata/sampled.x64.etl" trace.etl
for capture in pipe.perf.data tiny.perf.data trace.etl; do
  gzip -nk "$capture"
  zstd -q -k "$capture"
  "$program" convert "$capture" -o plain.spk -q
  "$program" dump --samples plain.spk >plain.txt
  for packed in "$capture.gz" "$capture.zst"; do
    run_unsized convert "$packed" -o packed.spk
    "$program" dump --samples packed.spk | cmp - plain.txt && echo same
    "$program" convert - -o piped.spk -q <"$packed" && cat "$packed" | "$program" convert - -o fifo.spk -q
    cmp piped.spk fifo.spk && echo same
  done
done
printf 'main;work 12\n' | gzip -n >stacks.folded.gz
run_unsized convert stacks.folded.gz -o folded.spk
run_unsized convert . --recursive --out-dir all -j 1
# What is cut is read as far as it goes, and counted.
head -c 2000 pipe.perf.data.gz >cut.perf.data.gz
run_unsized convert cut.perf.data.gz -o cut.spk --strict
# What cannot be read says what to do.
xz -k tiny.perf.data 2>/dev/null || printf '\3757zXZ\0\0' >tiny.perf.data.xz
run convert tiny.perf.data.xz -o none.spk
printf 'nothing in particular\0' | gzip -n >text.gz
run convert text.gz -o none.spk
head -c 5 pipe.perf.data.gz >stub.gz
run convert stub.gz -o none.spk
head -c 200000000 /dev/zero | zstd -q >zeros.zst
run convert zeros.zst -o none.spk
(printf 'PERFILE2\150\0\0\0\0\0\0\0'; head -c 200000000 /dev/zero) | zstd -q >grows.perf.data.zst
run convert grows.perf.data.zst -o none.spk
ls none.spk
