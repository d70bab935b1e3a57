# Functions of a capture from files with symbols.
capture demo.perf.data
run convert --quiet demo.perf.data -o demo.spk
# There is no build id: the paths of this machine are not believed.
run symbolize demo.spk -o named.spk
mkdir -p root/usr/bin
elf root/usr/bin/demo main=401000+c parse=401010+10 read=401020+8
run symbolize demo.spk -o named.spk --sysroot root
run verify --quiet named.spk
run top named.spk
run dump named.spk --functions
run dump demo.spk --stacks
run dump named.spk --stacks
# A second run changes nothing.
run symbolize named.spk -o again.spk --sysroot root --quiet
cmp named.spk again.spk && echo the same
# In one go.
run convert --quiet demo.perf.data -o direct.spk --symbolize --sysroot root
cmp named.spk direct.spk && echo the same
run convert --quiet demo.perf.data -o demo.perf.data --symbolize --sysroot root
# The kernel, moved by 0x1000: _text was at ffffffff81000000 and is listed below.
cat > kallsyms <<'LIST'
ffffffff80fff000 T _text
ffffffff80fff000 T start_kernel
ffffffff80fff100 T do_work
ffffffff80fff300 t end_of_work
LIST
run symbolize demo.spk -o kernel.spk --kallsyms kallsyms
run top kernel.spk
# Of several symbols at its address the recorder may have taken any.
sed 's/\(.*\) _text/\1 _a\n\1 _text/' kallsyms > aliases
run symbolize demo.spk -o aliases.spk --kallsyms aliases
grep -v _text kallsyms > without
run symbolize demo.spk -o without.spk --kallsyms without
# Its module is shown where several have a function of that name.
sed 's/do_work/parse/' kallsyms > alike
run symbolize demo.spk -o alike.spk --sysroot root --kallsyms alike --quiet
run top alike.spk
sed 's/^[^ ]*/0000000000000000/' kallsyms > hidden
run symbolize demo.spk -o kernel.spk --kallsyms hidden
run symbolize demo.spk -o kernel.spk --kallsyms nothing
run convert --quiet demo.perf.data -o kernel.spk --symbolize --kallsyms hidden
run symbolize demo.spk -o named.spk --sysroot root --check 'named.share >= 0.5' --check 'named.share > 0.99' --quiet
run symbolize demo.spk -o named.spk --check 'nothing > 1' --quiet
run symbolize demo.spk -o named.spk --check 'named'
run symbolize demo.spk -o demo.spk --sysroot root
run symbolize nothing.spk -o named.spk
# What is no regular file is not waited for.
rm root/usr/bin/demo
mkfifo root/usr/bin/demo
run symbolize demo.spk -o named.spk --sysroot root
# A link does not lead out of the folder.
rm root/usr/bin/demo
ln -s /etc/passwd root/usr/bin/demo
run symbolize demo.spk -o named.spk --sysroot root
# A damaged file costs its image.
rm root/usr/bin/demo
printf '\177ELF\002\001\001 nothing else' > root/usr/bin/demo
run symbolize demo.spk -o named.spk --sysroot root
# A capture is no .spk file.
run symbolize demo.perf.data -o named.spk
