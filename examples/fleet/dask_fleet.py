#!/usr/bin/env python3
"""Captures to .spk files, and those to one, on Dask.

    dask_fleet.py CAPTURES PACKED SCRATCH OUT.spk [--lake LAKE] [--scheduler tcp://HOST:8786] [--workers N] [--fan-in 32]

Without --scheduler: N processes on this machine. The folders are places that every worker sees, or URLs of an object
store. A worker that dies takes nothing along: Dask gives its tasks to others, and stackpack.fleet sees to it that what is
done twice counts once. So a run that was ended is started again as it is. Status 2: captures that cannot be read are named
on standard error, and the others merged.
"""
import argparse
import sys

from distributed import Client, LocalCluster, as_completed

from stackpack import fleet


def pack_all(client, given):
    """Packs every capture; the .spk files, by name, and how many captures are bad."""
    counts, packed = {"written": 0, "skipped": 0, "failed": 0}, []
    # pure=False: what a run left is found on disk, not in the scheduler.
    tasks = [client.submit(fleet.pack, capture, relative, given.packed, given.lake, pure=False, retries=3)
             for capture, relative in fleet.files_below(given.captures)]
    for task in as_completed(tasks):
        done = task.result()
        counts[done.done] += 1
        if done.done == "failed":
            print(f"dask_fleet: {done.input}: offset {done.offset}: {done.text}", file=sys.stderr)
        else:
            packed.append(done.packed)
        task.release()
    print(" ".join(f"{name} {count}" for name, count in counts.items()), flush=True)
    return sorted(packed), counts["failed"]


def merge_all(client, files, given):
    """A tree of merges: each waits for its own inputs alone."""
    while True:
        groups = fleet.groups_of(files, given.fan_in)
        files = [client.submit(fleet.merge_group, group, given.scratch, pure=False, retries=3) for group in groups]
        if len(files) == 1:
            return files[0].result()


def main():
    """Packs, then merges."""
    parser = argparse.ArgumentParser(description="captures to .spk files, and those to one, on Dask")
    parser.add_argument("captures")
    parser.add_argument("packed")
    parser.add_argument("scratch")
    parser.add_argument("output")
    parser.add_argument("--lake", help="folder of Parquet tables; none by default")
    parser.add_argument("--scheduler", help="address of a running one")
    parser.add_argument("--workers", type=int, default=2, help="without --scheduler: processes on this machine")
    parser.add_argument("--fan-in", type=int, default=32)
    given = parser.parse_args()
    local = None if given.scheduler else LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address=None)
    with Client(given.scheduler or local) as client:
        packed, bad = pack_all(client, given)
        if not packed:
            sys.exit(f"dask_fleet: no capture in {given.captures}")
        fleet.finish_merge(merge_all(client, packed, given), given.output)
    if local:
        local.close()
    return 2 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
