# Callstacks of stack dumps.
cp "$folder"/../../../testdata/unwind/framed .
cp "$folder"/../../../testdata/unwind/dumps.data .
# Without the option: what it would take.
run_unsized convert dumps.data -o plain.spk
# The binary is not here, or not the one that was recorded.
run_unsized convert --unwind dumps.data -o without.spk
run dump without.spk --losses
run stats without.spk --check 'losses.unwind_image_missing == 0' --quiet
mkdir other
head -c 8000 framed > other/framed
run convert --unwind dumps.data --symbols other -o other.spk --quiet
run dump other.spk --metadata
# It is here.
mkdir bin
mv framed bin/
run_unsized convert --unwind dumps.data --symbols bin -o with.spk
run stats with.spk --check 'samples.unwound >= 41' --check 'losses.unwind_image_missing == 0' --quiet
run dump with.spk --losses
run top with.spk -n 3
# Places that are not there: nothing is converted.
run convert dumps.data -o bad.spk --unwind --symbols nothing.zip --quiet
run convert dumps.data -o bad.spk --unwind --symbols bin --symbols nowhere
run symbolize with.spk -o bad.spk --symbols nowhere
run collect dumps.data -o bad.zip --symbols nowhere
ls bad.spk bad.zip 2> /dev/null
# Below a root, by its path.
mkdir -p root/home/user
cp bin/framed root/home/user/
run convert --unwind dumps.data --sysroot root -o rooted.spk --quiet
run dump rooted.spk --losses
# Through a pipe, with the same result.
"$program" convert --unwind - --symbols bin -o piped.spk --quiet < dumps.data
cmp with.spk piped.spk && echo the same
