# Names found before a merge are those after it: of the same build wherever it was mapped, and of each
# build of a path apart.
first=1111111111111111111111111111111111111111
second=2222222222222222222222222222222222222222
capture here.perf.data 12 --build-id $first
capture moved.perf.data 12 --build-id $first --moved 7ffff000
capture other.perf.data 12 --build-id $second
mkdir -p first/usr/bin second/usr/bin
elf first/usr/bin/demo --build-id $first main=401000+c parse=401010+10 read=401020+8 write=401030+8
elf second/usr/bin/demo --build-id $second start=401000+c main=401010+10 parse=401020+8 draw=401030+8
run convert --quiet here.perf.data -o here.spk --symbolize --sysroot first
run convert --quiet moved.perf.data -o moved.spk --symbolize --sysroot first
run convert --quiet other.perf.data -o other.spk --symbolize --sysroot second
run top moved.spk
run top other.spk
# The same build at two places: the same callstacks, with twice the samples.
run merge here.spk moved.spk -o same.spk
run verify --quiet same.spk
run dump same.spk --modules
run top same.spk
# Two builds of one path: each with its own names.
run merge here.spk moved.spk other.spk -o all.spk
run verify --quiet all.spk
run dump all.spk --modules
run dump all.spk --functions
run top all.spk
# In parts, and in another order.
run merge --quiet other.spk same.spk -o again.spk
cmp all.spk again.spk && echo the same
# Names that one input has are those of the same code in the others.
run convert --quiet here.perf.data -o plain.spk
run merge --quiet plain.spk moved.spk -o half.spk
run top half.spk
