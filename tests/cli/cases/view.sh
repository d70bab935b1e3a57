# A page that a desktop opens.
capture demo.perf.data 3000
run convert --quiet demo.perf.data -o demo.spk
unset DISPLAY WAYLAND_DISPLAY
"$program" view demo.perf.data --tid 101 >path
printf '$ stackpack view demo.perf.data --tid 101\n= %d\n' $?
printf '  %s\n  mode %s\n' "$(sed 's/-......\.html$/-NAME.html/; s,.*/,,' path)" "$(stat -c %a "$(cat path)")"
run view demo.perf.data --comm nobody
# Several packed files are a page, that of export.
capture other.perf.data 500
run convert --quiet other.perf.data -o other.spk
"$program" view demo.spk other.spk --tid 101 >several
printf '$ stackpack view demo.spk other.spk --tid 101\n= %d\n' $?
run export demo.spk other.spk --tid 101 --to html -o several.html
cmp several.html "$(cat several)" && printf '  the same page\n'
rm "$(cat several)"
"$program" view demo.spk demo.perf.data --no-symbolize >mixed
printf '$ stackpack view demo.spk demo.perf.data --no-symbolize\n= %d\n' $?
rm "$(cat mixed)"
run view demo.spk other.spk --comm nobody
run view missing.spk
printf '  files left: %s\n' "$(ls stackpack-*.html | wc -l)"
# A desktop opens it, and nothing is printed.
printf '#!/bin/sh\nbasename "$1" | sed s/-....../-NAME/ >opened\n' >xdg-open
chmod +x xdg-open
DISPLAY=:0 PATH=$work:$PATH run view demo.spk
printf '  opened %s\n' "$(cat opened)"
printf '#!/bin/sh\nexit 4\n' >xdg-open
DISPLAY=:0 PATH=$work:$PATH "$program" view demo.spk | sed 's/.*-......\.html$/  stackpack-NAME.html/'
# What its captures lack is said before.
head -c 1500 other.perf.data >cut.perf.data
capture lost.perf.data 6 --lost 41
printf '#!/bin/sh\n' >xdg-open
DISPLAY=:0 PATH=$work:$PATH run view cut.perf.data lost.perf.data
