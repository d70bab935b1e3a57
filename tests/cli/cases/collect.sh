# What unwinding and naming need on another machine.
cp "$folder"/../../../testdata/unwind/framed .
cp "$folder"/../../../testdata/unwind/dumps.data .
run collect dumps.data -o bundle.zip
mkdir here
mv framed here/
run collect dumps.data --symbols here -o bundle.zip
run collect dumps.data --symbols here -o bundle.zip --json
run collect dumps.data --symbols here -o bundle.zip --quiet --check 'missing == 0' --check 'collected > 1'
python3 -m zipfile -l bundle.zip | sed 's/ \{2,\}/  /g'
# Without the binary: the same bytes as with it.
run convert --quiet --unwind dumps.data --symbols here -o here.spk
run convert --quiet --unwind dumps.data --symbols bundle.zip -o there.spk
cmp here.spk there.spk && echo the same
run symbolize there.spk --symbols bundle.zip -o named.spk
run symbolize here.spk --symbols here -o named_here.spk --quiet
cmp named.spk named_here.spk && echo the same names
run top named.spk -n 3
# From the .spk file, the same bundle.
run collect there.spk --symbols here -o again.zip --quiet
cmp bundle.zip again.zip && echo the same bundle
# An entry that is another build than its name says.
python3 -c 'print(end="")
data = open("bundle.zip", "rb").read()
open("lies.zip", "wb").write(data.replace(bytes.fromhex("9c8277d4"), bytes(4)))'
run convert --quiet --unwind dumps.data --symbols lies.zip -o lies.spk
run dump lies.spk --losses
run symbolize there.spk --symbols lies.zip -o lies_named.spk
# What is no bundle.
echo text > text.zip
run convert --unwind dumps.data --symbols text.zip -o bad.spk
run symbolize there.spk --symbols text.zip -o bad.spk
run collect text.zip -o bad.zip
run collect dumps.data -o dumps.data
run collect dumps.data -o there.spk
# A bundle may be replaced by another one, and another archive may not.
printf 'PK\005\006%18s' '' | tr ' ' '\0' >nothing.zip
run collect dumps.data --symbols here -o nothing.zip --quiet
run collect dumps.data --symbols here -o nothing.zip --quiet
python3 - <<'MAKE'
import zipfile
with zipfile.ZipFile("photos.zip", "w") as archive:
    archive.writestr("summer.jpg", "sun")
with zipfile.ZipFile("unpacked.zip", "w") as archive:
    archive.writestr(".build-id/9c/82.debug", "not of ours")
MAKE
run collect dumps.data --symbols here -o photos.zip
run collect dumps.data --symbols here -o unpacked.zip
run collect dumps.data --symbols bundle.zip -o bundle.zip
run collect dumps.data --symbols bundle.zip -o bundle.zip --force
cmp bundle.zip again.zip && echo still there
run convert --unwind dumps.data --symbols bundle.zip -o bundle.zip --force
run collect nothing.data -o bad.zip
run collect dumps.data
