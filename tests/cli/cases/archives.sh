# Captures inside zip files, as they are shared: read without unpacking them first.
cp "$folder/../../../testdata/sampled.x64.keys.xpress.etl" one.etl
cp "$folder/../../../testdata/sampled.x86.etl" two.etl
cp "$folder/../../../testdata/tiny.perf.data" .
python3 - <<'MAKE'
import zipfile

with zipfile.ZipFile("one.etl.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.write("one.etl")
    archive.writestr("one.etl.NGENPDB/readme.txt", "no capture")
with zipfile.ZipFile("session.diagsession", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("[Content_Types].xml", "<Types/>")
    archive.write("one.etl", "AB12/sc.user_aux.etl")
    archive.write("two.etl", "CD34/two.etl")
with zipfile.ZipFile("empty.etl.zip", "w") as archive:
    archive.writestr("readme.txt", "no capture")
with zipfile.ZipFile("mixed.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("readme.txt", "no capture")
    archive.write("one.etl")
    archive.write("two.etl")
with zipfile.ZipFile("perf.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("notes.txt", "main;work 12")
    archive.write("tiny.perf.data", "out/perf.data")
with zipfile.ZipFile("bomb.etl.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("bomb.etl", bytes(64 << 20))
with open("one.etl", "rb") as trace:
    head = trace.read()
with zipfile.ZipFile("grows.etl.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("grows.etl", head + bytes(128 << 20))
with open("one.etl.zip", "rb") as whole, open("cut.etl.zip", "wb") as cut:
    cut.write(whole.read()[:-40])
MAKE
run_unsized convert one.etl.zip -o zipped.spk
run_unsized convert one.etl -o plain.spk
run verify zipped.spk | sed 's/, [0-9,]* bytes//'
"$program" dump --samples plain.spk >plain.txt && "$program" dump --samples zipped.spk | cmp - plain.txt && echo same
# A recording session, by its name, becomes one file; a member can still be had by itself.
run_unsized convert session.diagsession -o session.spk
run_unsized convert session.diagsession --member CD34/two.etl -o out.spk
run convert session.diagsession --member nothing.etl -o out.spk
run_unsized convert session.diagsession --out-dir all -j 1
(cd all && find . -type f | LC_ALL=C sort)
# Other archives of several members: the user names one, gets one file each, or says that they belong together.
run convert mixed.zip -o out.spk
run_unsized convert mixed.zip --out-dir mixed -j 1
(cd mixed && find . -type f | LC_ALL=C sort)
run_unsized convert mixed.zip --session -o mixed.spk
"$program" dump --samples session.spk >session.txt && "$program" dump --samples mixed.spk | cmp - session.txt && echo same
# perf.data files are found by their content, from a pipe as well.
run_unsized convert perf.zip -o perf.spk
run_unsized convert tiny.perf.data -o tiny.spk
"$program" dump --samples tiny.spk >tiny.txt && "$program" dump --samples perf.spk | cmp - tiny.txt && echo same
"$program" convert - -o piped.spk -q <perf.zip && cat perf.zip | "$program" convert - -o fifo.spk -q && cmp piped.spk fifo.spk && echo same
# What is no capture, or not what it says.
run convert empty.etl.zip -o none.spk
run convert bomb.etl.zip -o none.spk
run convert grows.etl.zip -o none.spk
run convert cut.etl.zip -o none.spk
ls none.spk
# Every capture of an archive opens it anew: there is a bound to how many there may be.
python3 - <<'PYTHON'
import zipfile
with zipfile.ZipFile("crowd.etl.zip", "w") as archive:
    for number in range(1025):
        archive.writestr(f"{number}.etl", "")
PYTHON
run convert crowd.etl.zip -o crowd.spk
run convert crowd.etl.zip --out-dir crowd
# A bad member is one bad input: the rest of the archive, and the other captures, are converted.
python3 - <<'PYTHON'
import zipfile
trace = open("one.etl", "rb").read()
with zipfile.ZipFile("deep.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("d/" * 2100 + "x.etl", trace)
    archive.writestr("e/" * 2000 + "x.etl", trace)
    archive.writestr("ok.etl", trace)
with zipfile.ZipFile("collision.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("a.etl", trace)
    archive.writestr("x/../a.etl", trace)
    archive.writestr("b.etl", trace)
PYTHON
capture fine.perf.data 5
run_unsized convert deep.zip collision.zip fine.perf.data --out-dir bad -j 1 | sed -E 's#([de])/([de]/){100,}#\1/.../#g'
(cd bad && find . -type f | LC_ALL=C sort)
"$program" convert collision.zip --out-dir named --json -j 1 2>/dev/null | sed 's/,"output".*//'
# A text is a capture where the archive has no other, also one that PowerShell wrote.
python3 - <<'PYTHON'
import zipfile
with zipfile.ZipFile("text.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("readme.txt", "no capture, and no number at the end\n")
    archive.writestr("stacks.txt", "\ufeffmain;work 12\r\n".encode("utf-16-le"))
PYTHON
run export text.zip --format folded -o -
