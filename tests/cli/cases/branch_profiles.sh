# Profiles of branches for compilers: of one binary, and of all whose files are found.
id=0102030405060708090a0b0c0d0e0f1011121314
capture one.perf.data 12 --branches --build-id $id
capture plain.perf.data 12
elf demo --build-id $id work=401000+20 loop=401020+20
elf other --build-id ffff030405060708090a0b0c0d0e0f1011121314 work=401000+20
mkdir -p files/.build-id/01
cp demo "files/.build-id/01/${id#01}.debug"
run convert one.perf.data -o one.spk --quiet
run export one.spk --format bolt-preaggregated --binary demo -o demo.preagg
cat demo.preagg
run export one.spk --format llvm-profgen --binary demo -o demo.unsymbolized
cat demo.unsymbolized
run export one.perf.data --format autofdo --binary demo -o demo.autofdo
cat demo.autofdo
run export one.spk --format autofdo --all-images all --symbols files
ls all
cmp demo.autofdo "all/demo-$id.autofdo"
mkdir -p root/usr/bin
cp other root/usr/bin/demo
run export one.spk --format autofdo --all-images stale --sysroot root
run export one.spk --format autofdo --binary other -o other.autofdo
run export one.spk --format autofdo --binary one.spk -o other.autofdo
run export one.spk --format autofdo --binary missing -o other.autofdo
run export one.spk --format autofdo --binary demo -o demo
run export one.spk --format autofdo -o demo.autofdo
run export one.spk --format autofdo --binary demo
run export one.spk --format autofdo --all-images all -o demo.autofdo
run export one.spk --format autofdo --binary demo -o demo.autofdo --pid 7
run export one.spk --format folded --binary demo -o demo.folded
run export one.spk one.spk --format autofdo --binary demo -o demo.autofdo
capture nameless.perf.data 12 --branches
cp demo built
run export nameless.perf.data --format llvm-profgen --binary built -o built.unsymbolized
run export nameless.perf.data --format llvm-profgen --binary built --image demo -o built.unsymbolized
cmp demo.unsymbolized built.unsymbolized
run export one.spk --format llvm-profgen --binary other --image demo -o other.unsymbolized
run export one.spk --format llvm-profgen --all-images all --image demo
run convert plain.perf.data -o plain.spk --quiet
run export plain.spk --format autofdo --binary demo -o plain.autofdo
ls -- *.autofdo
