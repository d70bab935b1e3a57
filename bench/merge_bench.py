#!/usr/bin/env python3
"""Times `stackpack merge` over many captures.

    merge_bench.py PROGRAM [--files 1000] [--recordings 20] [--seconds 2] [--frequency 4000] [--work FOLDER] [--orders]

Records several runs of the same commands with perf, makes variants of each recording as other machines would have
made them (capture_variants.py: other processes, addresses, kernels, builds), packs them, and merges them all: with
samples, as counts, and both under a memory limit. Prints seconds, files and megabytes a second, and the peak of
resident memory. --orders: besides merges them shuffled, and in trees of three shapes, and compares the outputs.
"""
import argparse
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from capture_variants import Recording

WORKLOAD = """
end=$(($(date +%s) + {seconds}))
while [ $(date +%s) -lt $end ]; do
  echo 'int f(int a) {{ return a * 3; }} int main(void) {{ return f(1); }}' | cc -O2 -x c -c - -o /dev/null
  python3 -c 'import json, re, collections; json.dumps(list(range(20000)))'
  find /usr/include -name '*.h' | sort | tail -1 > /dev/null
done
"""


def measure(command):
    """Seconds, peak of resident memory in MiB, and the exit status."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    return time.monotonic() - begin, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def make_files(arguments, work):
    files = []
    each = -(-arguments.files // arguments.recordings)
    for i in range(arguments.recordings):
        recorded = work / f"recording{i}.perf.data"
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(arguments.frequency), "-g", "-o", recorded,
                        "--", "sh", "-c", WORKLOAD.format(seconds=arguments.seconds)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        recording = Recording(recorded)
        for k in range(min(each, arguments.files - len(files))):
            variant = work / "variant.perf.data"
            variant.write_bytes(recording.variant(k))
            files.append(work / f"{i}-{k}.spk")
            subprocess.run([arguments.program, "convert", "-q", variant, "-o", files[-1]], check=True)
        recorded.unlink()
    return files


def merged(program, files, output):
    listed = output.with_suffix(".txt")
    listed.write_text("".join(f"{file}\n" for file in files))
    subprocess.run([program, "merge", "-q", "--files-from", str(listed), "-o", str(output)], check=True)
    return output


def tree(program, files, width, work, name):
    """Merges `width` files at a time until one is left."""
    level = 0
    while len(files) > 1:
        files = [merged(program, files[at:at + width], work / f"{name}-{level}-{at}.spk")
                 for at in range(0, len(files), width)]
        level += 1
    return files[0]


def compare_orders(program, files, work):
    """Every order and grouping must give the same bytes."""
    shuffled = random.Random(1).sample(files, len(files))
    half = [merged(program, files[:len(files) // 2], work / "half.spk")]
    outputs = {"in order": merged(program, files, work / "order.spk"),
               "shuffled": merged(program, shuffled, work / "shuffled.spk"),
               "tree of 10": tree(program, shuffled, 10, work, "ten"),
               "tree of 2 wide parts": tree(program, files, -(-len(files) // 2), work, "wide"),
               "half and single files": merged(program, half + files[len(files) // 2:], work / "comb.spk")}
    digests = {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in outputs.items()}
    for name, digest in digests.items():
        print(f"{name:24} {digest}")
    if len(set(digests.values())) != 1:
        sys.exit("merge_bench: the outputs differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--recordings", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--frequency", type=int, default=4000)
    parser.add_argument("--work")
    parser.add_argument("--orders", action="store_true")
    arguments = parser.parse_args()
    work = pathlib.Path(arguments.work or tempfile.mkdtemp())
    work.mkdir(exist_ok=True)
    try:
        files = make_files(arguments, work)
        total = sum(file.stat().st_size for file in files)
        listed = work / "files.txt"
        listed.write_text("".join(f"{file}\n" for file in files))
        print(f"{len(files)} files of {total / len(files) / 1e6:.3f} MB, {arguments.recordings} recordings")
        command = [arguments.program, "merge", "--files-from", str(listed), "-o", str(work / "all.spk")]
        for name, options in (("samples", []), ("counts", ["--no-samples"]),
                              ("samples, 256 MiB", ["--memory-limit", "256MiB"]),
                              ("counts, 256 MiB", ["--no-samples", "--memory-limit", "256MiB"])):
            seconds, peak, status = measure(command + options)
            if status != 0:
                sys.exit(f"merge_bench: exit status {status}")
            size = (work / "all.spk").stat().st_size
            print(f"{name:18} {seconds:7.2f} s  {len(files) / seconds:7.1f} files/s  {total / seconds / 1e6:7.2f} MB/s  "
                  f"peak {peak:6.0f} MiB  output {size / 1e6:.2f} MB", flush=True)
        if arguments.orders:
            compare_orders(arguments.program, files, work)
    finally:
        if not arguments.work:
            shutil.rmtree(work)


if __name__ == "__main__":
    main()
