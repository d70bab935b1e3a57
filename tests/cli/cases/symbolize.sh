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
