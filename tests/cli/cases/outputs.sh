# What an output may replace, and which permissions it has: nothing of the user's is lost.
umask 022
capture a.perf.data 5
capture b.perf.data 6
cp a.perf.data kept
cp b.perf.data kept-b
ln -s a.perf.data link.perf.data
ln a.perf.data hard.perf.data
# An output that is the input, by whatever name; --force does not help.
for output in a.perf.data ./a.perf.data link.perf.data hard.perf.data; do
  run convert a.perf.data -o "$output"
  run convert a.perf.data -o "$output" --force
done
echo '$ stackpack convert - -o a.perf.data <a.perf.data'
"$program" convert - -o a.perf.data <a.perf.data 2>&1
echo "= $?"
# The slip of `-o *.data`.
run convert -o a.perf.data b.perf.data
cmp a.perf.data kept && cmp b.perf.data kept-b && echo 'the captures are there'
# An empty file, an older output, or a file that was given up may be replaced.
: >out.spk
run convert a.perf.data -o out.spk
run convert b.perf.data -o out.spk
echo 'a letter' >letter.txt
run convert a.perf.data -o letter.txt
cat letter.txt
run convert a.perf.data -o letter.txt --force
run verify letter.txt --quiet
# Exports: the file that is exported, and what is there.
run export out.spk --to folded -o out.spk
run export out.spk --to folded -o out.spk --force
run verify out.spk --quiet
run export out.spk --to folded -o out.folded
run export out.spk --to folded -o out.folded
run export out.spk --to folded -o out.folded --force
run export out.spk --to csv -o tables
run export out.spk --to csv -o tables
run export out.spk --to csv -o tables --force
# A batch: an output that is the input of another job.
cp a.perf.data a.spk
run convert a b.perf.data a.spk --out-dir .
cp a.perf.data a
run convert a a.spk b.perf.data --out-dir .
cmp a.spk kept && echo 'a.spk is there'
mkdir batch
echo 'a letter' >batch/a.perf.data.spk
run_unsized convert a.perf.data b.perf.data --out-dir batch -j 1
cat batch/a.perf.data.spk
# Permissions: those of the input; one that is replaced keeps its own.
chmod 600 a.perf.data
run convert a.perf.data -o private.spk
chmod 640 out.spk
run convert a.perf.data -o out.spk
run export private.spk --to folded -o private.folded
run export private.spk --to csv -o private-tables
stat -c '%a' private-tables/*.csv | sort -u
stat -c '%a %n' private.spk out.spk private.folded
