# Control groups of samples: what is kept, counted, chosen, merged, cut and redacted.
capture one.perf.data 24 --cgroups /system.slice/web.service,/docker/4f2a,/docker/77c0
capture two.perf.data 10 --cgroups /docker/77c0 --memory
capture plain.perf.data 12
run_unsized convert one.perf.data -o one.spk
run dump one.spk --losses
run dump one.spk --sample-fields
run dump one.spk --sample-fields --json
run top one.spk --by cgroup
run top one.spk --by cgroup --cgroup '/docker/*' --json
run top one.spk --cgroup web.service --self
run top one.spk --cgroup 77c0 --tid 100 --to +3ms
run top one.spk --cgroup 'cgroup 7000' --by thread
run top one.spk --cgroup nothing
run dump one.spk --samples --cgroup 4f2a
run export one.spk --to folded --cgroup 77c0 -o -
run_unsized convert two.perf.data -o two.spk
run merge two.spk one.spk -o merged.spk --quiet
run top merged.spk --by cgroup --all-events
run merge one.spk two.spk -o again.spk --quiet
cmp merged.spk again.spk || echo "the order of inputs shows"
run_unsized verify merged.spk
run cut merged.spk --cgroup 77c0 -o cut.spk --quiet
run dump cut.spk --sample-fields
run_unsized verify cut.spk
run redact one.spk -o redacted.spk --quiet
run top redacted.spk --by cgroup
run_unsized verify redacted.spk
run_unsized convert one.perf.data -o without.spk --no-sample-fields
run dump without.spk --losses
run top without.spk --by cgroup
run top plain.perf.data --by cgroup --no-symbolize
run top plain.perf.data --cgroup web --no-symbolize
run merge one.spk -o counts.spk --quiet --no-samples
run top counts.spk --cgroup web.service
