# The same bytes whatever does not matter: number of workers, folder, locale, time zone, pipe or file,
# time of day, name of the input.
mkdir in
for i in 1 2 3 4 5 6 7 8; do capture "in/$i.perf.data" $((i * 50)); done
"$program" convert in/* --out-dir one -j 1 --quiet; echo "= $?"
mkdir elsewhere
(cd elsewhere && LC_ALL=C.UTF-8 TZ=Asia/Tokyo "$program" convert ../in/* --out-dir ../eight -j 8 --quiet); echo "= $?"
diff -r one eight && echo 'workers, folder, locale and time zone: same'
for i in 1 8; do cat "in/$i.perf.data" | "$program" convert - -o "piped$i.spk"; cmp "piped$i.spk" "one/$i.perf.data.spk" && echo 'pipe: same'; done
"$program" convert - -o redirected.spk <in/3.perf.data && cmp redirected.spk one/3.perf.data.spk && echo 'redirection: same'
cp in/4.perf.data other-name.data
touch -d '1 year ago' other-name.data
"$program" convert other-name.data -o x.spk && cmp x.spk one/4.perf.data.spk && echo 'name and time: same'
"$program" convert other-name.data -o y.spk --level 3 && ! cmp -s y.spk x.spk && echo 'another level: another file'
