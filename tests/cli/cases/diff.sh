# Profiles compared, and the gate.
folded() {
  cat > "$1"
}
folded old.folded <<'STACKS'
main;serve;parse 4000
main;serve;render 5000
main;serve;render.cold 100
main;idle 900
main;run()::{lambda()#1}::operator()() const 300
STACKS
folded new.folded <<'STACKS'
main;serve;parse 5200
main;serve;render.constprop.0 5100
main;idle 900
main;run()::{lambda()#2}::operator()() const 300
main;serve;|`<b>@all</b>` 2
STACKS
run diff old.folded --against new.folded
run diff old.folded --against old.folded --fail-if 'share +5pp' --fail-if 'share +0.1pp'
run diff old.folded --against old.folded --fail-if 'share +0.1pp' --strict -n 1
run diff old.folded old.folded --against new.folded new.folded --fail-if 'self share +1pp' --fail-if 'self relative +5% from 1%' -n 3
run diff old.folded old.folded --against new.folded new.folded --fail-if 'self share +1pp of parse' --markdown -n 4
# Runs of lists count as those that are named.
printf '%s\n' old.folded old.folded > olds
printf 'new.folded\0new.folded\0' > news
run diff --files-from olds --against-from news --fail-if 'self share +1pp' -n 1
run diff old.folded --files-from olds --against new.folded -n 1
run diff --against-from news
run diff --files-from olds
run diff --files-from none --against-from news
# One run a side decides nothing, unless that is asked for.
run diff old.folded --against new.folded --fail-if 'self share +1pp of parse' -n 1 --run-variation 0
run diff old.folded --against new.folded --fail-if 'self share +1pp of parse' -n 1 --run-variation 0 --strict --markdown
run diff old.folded --against new.folded --fail-if 'self share +1pp of parse' -n 1 --run-variation 0 --accept-single-run
printf '%s\n' '# the new parser' 'parse up to +10pp' 'gone' > allowed
run diff old.folded old.folded --against new.folded new.folded --fail-if 'self share +1pp' --allow allowed -n 1
printf '%s\n' 'parse up to 3' > bad
run diff old.folded --against new.folded --fail-if 'self share +1pp' --allow bad
run diff old.folded --against new.folded --allow nothing
run diff old.folded old.folded --against new.folded new.folded --json -n 1 --fail-if 'self share +1pp of parse'
run diff old.folded --against new.folded --folded
run diff old.folded --against new.folded --by callstack -n 2
run diff old.folded --against new.folded --by module
run diff old.folded --against new.folded --of serve -n 3
run diff old.folded old.folded --against new.folded new.folded -n 3
run diff old.folded old.folded --against new.folded new.folded -n 2 --rename parse=render --rename nothing=this
run diff old.folded --against new.folded --rename parse
# What CI systems read.
run diff old.folded old.folded --against new.folded new.folded -n 1 --fail-if 'self share +1pp of parse' --fail-if 'share +60pp' \
  --fail-if 'relative +0.1%' --junit junit.xml --sarif findings.sarif --annotations
cat junit.xml findings.sarif
run diff old.folded --against new.folded --junit junit.xml
run diff old.folded --against new.folded --folded --junit junit.xml
# Captures are packed on the way; times and threads are those of samples.
capture demo.perf.data 3000
run convert --quiet demo.perf.data -o demo.spk
run diff demo.perf.data --against demo.spk
run diff demo.spk --against demo.spk --per time --frames module --tid 101 --mistakes 5 -n 3
run diff demo.spk --against demo.spk --per time --fail-if 'share +1pp'
run diff demo.spk --against demo.spk --per weight --of 'demo!*' --run-variation 0 -n 2
# What goes wrong.
run diff demo.spk
run diff demo.spk --against
run diff demo.spk nothing.spk --against demo.spk none.spk
run diff demo.spk --against old.folded
run diff demo.spk --against demo.spk --fail-if 'share 1pp'
run diff demo.spk --against demo.spk --folded --fail-if 'share +1pp'
run diff demo.spk --against demo.spk --of nothing
run diff demo.spk --against demo.spk --event nothing
run diff demo.spk --against demo.spk --mistakes 0
run diff demo.spk --against demo.spk --by functions
head -c 300 demo.spk > cut.spk
run diff demo.spk --against cut.spk
# A unit of work is a word, and each file has done a number of them.
for unit in 60 nan -1 ''; do
  run diff old.folded --against new.folded --per run "--unit=$unit"
done
run diff old.folded --against new.folded --per run --unit request
run diff old.folded --against new.folded --per run --unit request --units work --label-unit requests
run diff old.folded --against new.folded --per run --unit request --label-unit requests
for amount in 0 -5 nan inf twelve; do
  printf '%s\n' '100 old.folded' "$amount new.folded" > work
  run diff old.folded --against new.folded --per run --unit request --units work
done
printf '%s\n' '100 old.folded' > work
run diff old.folded --against new.folded --per run --unit request --units work
printf '%s\n' '100 old.folded' '103 new.folded' > work
run diff old.folded --against new.folded --per run --unit request --units work -n 1
