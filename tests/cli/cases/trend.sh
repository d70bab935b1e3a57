# Baselines by commit, what later runs are compared with, and at which commits costs changed.
for commit in 1 2 3 4 5 6 7 8 9; do
  parse=$((commit < 6 ? 4000 : 4800))
  for run in 1 2; do
    printf '%s\n' "main;serve;parse $((parse + commit * 7 % 5 * 10 + run))" "main;serve;render $((5000 - commit * 3 % 4 * 10))" \
      'main;idle 900' 'main;<b>|`x` 3' > "runs.$run.folded"
    "$program" convert "runs.$run.folded" -o "runs.$run.spk" --quiet --force
  done
  run baseline add base runs.1.spk runs.2.spk --commit "c$commit" $([ $commit = 2 ] || echo --quiet)
done
run baseline add base runs.1.spk --commit c9
run baseline show base | sed -E 's/ +[0-9.]+ [KM]?i?B/  SIZE/'
run baseline show base --json | sed -E 's/"bytes":[0-9]+/"bytes":0/; s/-[0-9a-f]{16}\.spk/-DIGEST.spk/g'
run trend base
run trend base --by total
run trend base --by module --per share --figure total -n 1
run trend base --json --last 5 -n 1
run trend base --html -o page.html -n 1
run trend base --html -o page.html
sed -n '/<h1>/,$p' page.html
run trend base --last 3
run diff base --against runs.1.spk runs.2.spk --per run -n 1
run diff base --last 2 --against runs.1.spk runs.2.spk --per run -n 1
# Files that prune did not write stay.
echo mine > base/000001-c1-0123456789abcdef.spk
run baseline prune base --keep 3
run baseline prune base --keep 3
run baseline show base | sed -E 's/ +[0-9.]+ [KM]?i?B/  SIZE/'
# What goes wrong.
run trend base
run trend nowhere
mkdir empty
run trend empty
run trend base --html
run baseline add base --commit c10
run baseline add base runs.1.spk
run baseline add base runs.1.spk --commit ../c10
: >empty.spk
run baseline add base runs.1.folded none.spk empty.spk --commit c10
run baseline prune base
run baseline show base runs.1.spk
run baseline list base
run diff empty --against runs.1.spk
