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
