# Bad inputs: one line with file, offset and cause; exit code 2; no output.
: >empty.data
echo 'This is a text file, which is no capture.' >text.data
mkdir folder
capture good.data
head -c 100 good.data >cut-header.data
run convert empty.data -o out.spk
run convert text.data -o out.spk
run convert folder -o out.spk
run convert missing.data -o out.spk
run convert cut-header.data -o out.spk
run convert good.data -o nowhere/out.spk
ls out.spk
run stats text.data
run stats missing.spk
run dump --stacks good.data
run verify text.data missing.spk
run show missing.spk 0
# What is something else is named, with what to do about it.
run_unsized convert good.data -o good.spk
run convert good.spk -o again.spk
run convert good.spk --out-dir batch
run convert folder --out-dir batch
for command in 'dump --stacks' 'show' 'verify' 'export --to folded -o x.folded'; do
  for file in folder empty.data text.data good.data; do
    words=($command)
    id=(); [[ ${words[0]} == show ]] && id=(0)
    run "${words[0]}" "$file" "${words[@]:1}" "${id[@]}"
  done
done
run stats folder empty.data
run dump - --stacks
head -c 100 good.spk >cut.spk
run dump cut.spk --stacks
run convert --files-from missing.txt --out-dir batch
# What is known and not read says what is.
printf '# callgrind format\nevents: Ir\nfn=main\n1 20\n' >callgrind.out.1
printf 'version: 1\ncreator: callgrind-3.19.0\npid: 1\nevents: Ir\nfn=main\n1 20\n' >callgrind.out.2
printf '\x17\x08\x44tracing6\0\0\x08' >trace.dat
printf 'v8-version,11,3,244,8,0\ntick,0x1,1,0,0x0,6\n' >isolate.log
printf '{"snapshot":{"meta":{"node_fields":["type"]}}}' >heap.heapsnapshot
for known in callgrind.out.1 callgrind.out.2 trace.dat isolate.log heap.heapsnapshot; do
  run stats "$known"
done
