#!/bin/bash
#SBATCH --job-name=stackpack-convert --requeue
# Task I of an array takes every line of a list of captures whose number is I modulo the number of tasks:
#
#   find /data/captures -name '*.perf.data' | sort > list.txt
#   sbatch --array=0-99 --cpus-per-task=2 --mem=2G slurm_convert.sh list.txt /data/packed
#
# What is up to date is left alone, so that a task whose node was drained or lost is started again as it is (--requeue does so
# by itself). A report is there whole or not at all.
set -uo pipefail
list=$1 packed=$2
mkdir -p "$packed"
report=$packed/report-$SLURM_ARRAY_TASK_ID.json
awk -v task="$SLURM_ARRAY_TASK_ID" -v tasks="$SLURM_ARRAY_TASK_COUNT" 'NR % tasks == task' "$list" |
  "${STACKPACK:-stackpack}" convert --files-from - --out-dir "$packed" --names path -j "${SLURM_CPUS_PER_TASK:-1}" \
    --memory-limit 1GiB --skip-existing --quiet --json > "$report.part"
status=$?
mv "$report.part" "$report"
exit $status
