# A gate as the repository has it: conditions, known changes, renames and the folder of baselines in one file.
mkdir ci
for commit in 1 2 3; do
  for run in 1 2; do
    printf '%s\n' "main;serve;parse $((4000 + commit * 10 + run))" 'main;serve;old_render 5000' 'main;idle 900' > "runs.$run.folded"
    "$program" convert "runs.$run.folded" -o "runs.$run.spk" --quiet --force
  done
  run baseline add ci/base runs.1.spk runs.2.spk --commit "c$commit" --quiet
done
for run in 1 2; do
  printf '%s\n' "main;serve;parse $((5200 + run))" 'main;serve;render 5000' 'main;idle 900' > "new.$run.folded"
done
cat > ci/gate.toml <<'TOML'
fail-if = ["total cost +5%", "function cost +10% from 1%"]
allow = [
  "parse up to +50%",   # reads the new format
  "main",
]
baseline = "base"
last = 2

[rename]
old_render = "render"
TOML
run diff --gate ci/gate.toml --against new.1.folded new.2.folded --per run
run diff --gate ci/gate.toml --last 1 --against new.1.folded new.2.folded --per run -n 1
# OLD of the command line comes before the file's baseline, and its conditions are added.
run diff runs.1.spk runs.2.spk --gate ci/gate.toml --against new.1.folded new.2.folded --fail-if 'self share +1pp' -n 1
printf 'fail-if = ["self share +0.001pp"]\nstrict = true\n' > strict.toml
run diff runs.1.spk runs.2.spk --gate strict.toml --against runs.1.spk runs.2.spk -n 1
# What goes wrong.
run diff --against new.1.folded
run diff --gate strict.toml --against new.1.folded
run diff --gate nothing.toml --against new.1.folded
printf 'baseline = "none"\n' > none.toml
run diff --gate none.toml --against new.1.folded
mkdir none
run diff --gate none.toml --against new.1.folded
run diff none --against new.1.folded
# Files without commits in their names are all of the folder.
cp runs.1.spk runs.2.spk none
run diff --gate none.toml --against new.1.folded -n 1
run diff none --against new.1.folded -n 1
printf 'fail-if = [\n  "total cup +3%%",\n]\n' > wrong.toml
run diff --gate wrong.toml --against new.1.folded
printf 'fail-if total cpu +3%%\n' > lines.toml
run diff --gate lines.toml --against new.1.folded
printf 'fail_if = []\n' > key.toml
run diff --gate key.toml --against new.1.folded
head -c 70000 /dev/zero | tr '\0' ' ' > long.toml
run diff --gate long.toml --against new.1.folded
