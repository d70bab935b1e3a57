# Weights that are not whole, in texts, JSON, exports and what is made of files with them.
cat >half.folded <<'END'
main;foo 3.5
main;bar 1.25
main 1
END
cat >quarters.json <<'END'
{"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "A"}, {"name": "B"}]},
 "profiles": [{"type": "sampled", "name": "t", "unit": "none", "startValue": 0, "endValue": 1,
  "samples": [[0], [0, 1], [1], [0]], "weights": [0.25, 0.5, 0.25, -1]}]}
END
for form in folded:half.folded speedscope:quarters.json; do
  file=${form#*:}
  run_unsized convert --format "${form%%:*}" -q "$file" -o "${file%.*}.spk"
  run verify -q "${file%.*}.spk"
  run top "${file%.*}.spk"
  run top "${file%.*}.spk" --json
done
run dump --losses quarters.spk
run dump --samples half.spk
run dump --stacks half.spk --json
for format in folded speedscope firefox; do
  run export --format $format -q half.spk -o back.$format
  run_unsized convert --format $format -q back.$format -o back.spk --force
  run export --format folded back.spk -o -
done
run export --format pprof -q half.spk -o half.pb
run_unsized convert -q half.pb -o back.spk --force
run export --format folded back.spk -o -
run export --format csv -q half.spk -o tables
cat tables/samples.csv
printf 'main;foo 2\nmain;far 0.125\n' >other.folded
run_unsized convert --format folded -q other.folded -o other.spk
run_unsized merge -q half.spk other.spk -o both.spk
run export --format folded both.spk -o -
run top half.spk other.spk
run diff half.spk other.spk
run_unsized cut -q half.spk -o part.spk --event samples
run export --format folded part.spk -o -
run_unsized redact -q half.spk -o hidden.spk
run verify -q hidden.spk
run top hidden.spk --by event
printf 'main 1.0000000001\nmain 4\n' >fine.folded
run_unsized convert --format folded -q fine.folded -o fine.spk
run dump --losses fine.spk
run export --format folded fine.spk -o -
# A sum that is too large stays the largest number.
printf 'main;foo 18446744073709551615\nmain;far 18446744073709551615\n' >most.folded
run top most.folded
run callees most.folded main
run export --format folded most.folded -o -
