# A page of a capture and of a comparison: what is in it is compared elsewhere.
capture demo.perf.data 3000
run convert --quiet demo.perf.data -o demo.spk
run export demo.spk --to html -o page.html
run export demo.spk --to html -o page.html
run export demo.spk --to html -o page.html --comm nobody --force
run export demo.spk --format html -o demo.spk --force
capture empty.perf.data 0
run convert --quiet empty.perf.data -o empty.spk
run export empty.spk --to html -o empty.html
run export empty.spk --to folded -o empty.folded
run export demo.spk empty.spk --to html -o both.html
run export demo.spk empty.spk --to folded -o both.folded
run export demo.spk missing.spk --to html -o missing.html
run export demo.spk demo.perf.data --no-symbolize --to html -o mixed.html
rm mixed.html
run export demo.spk empty.spk --to html -o demo.spk --force
run export demo.spk empty.spk --to html -o both.html --force --comm nobody
printf '  %s\n' *.html
run diff demo.spk --against demo.spk --html
run diff demo.spk --against demo.spk --json -o page.html
run diff demo.spk --against demo.spk --html -o page.html
run diff demo.spk --against demo.spk --html -o demo.spk --force
run diff demo.spk --against demo.spk --html -o diff.html --fail-if 'share -1pp' --fail-if 'share +0.000001pp' --strict
