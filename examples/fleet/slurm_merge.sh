#!/bin/bash
# Submits a merge of the .spk files of a folder as a tree: an array of merges of FAN_IN files each, then one merge of their
# outputs, which waits for them. Run it on the machine that submits, when the conversions are done:
#
#   slurm_merge.sh /data/packed /data/scratch /data/all.spk [FAN_IN] [SBATCH OPTION...]
#
# The bytes are those of one `stackpack merge` of all. A task that is started again writes the same file.
set -euo pipefail
packed=$1 scratch=$2 output=$3 fan_in=${4:-32}
shift $(($# < 4 ? $# : 4))
mkdir -p "$scratch"
rm -f "$scratch"/group-*.spk
list=$scratch/inputs.txt
find "$packed" -name '*.spk' | sort > "$list"
merges=$((($(wc -l < "$list") + fan_in - 1) / fan_in))
((merges > 0)) || { echo "slurm_merge: no .spk file in $packed" >&2; exit 1; }
program=${STACKPACK:-stackpack}
group=$(sbatch --parsable --requeue --array=0-$((merges - 1)) "$@" --wrap \
  "first=\$((SLURM_ARRAY_TASK_ID * $fan_in + 1))
   sed -n \"\$first,\$((first + $fan_in - 1))p\" '$list' |
     '$program' merge --quiet --files-from - -o '$scratch'/group-\$SLURM_ARRAY_TASK_ID.spk")
sbatch --parsable --requeue --dependency="afterok:$group" --kill-on-invalid-dep=yes "$@" --wrap \
  "'$program' merge --quiet '$scratch'/group-*.spk -o '$output'"
