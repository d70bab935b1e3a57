# Standard input and output, and readers that go away.
capture demo.perf.data
run convert demo.perf.data -o demo.spk
echo 'convert to a pipe gives the same bytes'
"$program" convert demo.perf.data -o - | cmp - demo.spk && echo same
echo 'a redirection is a file like any other'
"$program" convert - -o from-stdin.spk <demo.perf.data; echo "= $?"
"$program" dump --stacks from-stdin.spk | sort >a; "$program" dump --stacks demo.spk | sort | cmp - a && echo same
echo 'a broken pipe is no error'
capture big.perf.data 20000
"$program" convert big.perf.data -o big.spk
set -o pipefail
"$program" dump --samples big.spk | head -n 1; echo "= $?"
"$program" convert big.perf.data -o - | head -c 1 >/dev/null; echo "= $?"
echo 'a full disk is'
"$program" dump --samples big.spk >/dev/full; echo "= $?"
