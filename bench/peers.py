#!/usr/bin/env python3
"""stackpack beside the tools that read or shrink a perf.data file.

    bench/peers.py CAPTURE [ROUNDS] [--program FILE] [--without TOOL]...

Runs every tool once a round (default 2), in turn, and prints the least wall and processor time, peak
memory and bytes written, each also as a ratio to stackpack's. bench/record.sh makes a recording. A
tool that is missing or fails is named and left out: those of perf, where the capture is an .etl. So is
one whose line would begin with TOOL (`--without "zstd -19"`, which takes minutes). What is printed
goes to a file in $TMPDIR, as it would for a user.
"""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def tools(program, capture, folder):
    """Name, command, file that it writes (None: standard output)."""
    return [
        ("stackpack convert", [program, "convert", capture, "-o", f"{folder}/out.spk", "--quiet"], "out.spk"),
        ("perf script -F ip,sym", ["perf", "script", "-i", capture, "-F", "ip,sym"], None),
        ("perf report --stdio", ["perf", "report", "-i", capture, "--stdio", "--no-children"], None),
        ("perf data convert --to-json", ["perf", "data", "convert", "-i", capture, "--force", "--to-json", f"{folder}/out.json"], "out.json"),
        ("zstd -1", ["zstd", "-q", "-f", "-1", capture, "-o", f"{folder}/out.1.zst"], "out.1.zst"),
        ("zstd -3 -T2", ["zstd", "-q", "-f", "-3", "-T2", capture, "-o", f"{folder}/out.t.zst"], "out.t.zst"),
        ("zstd -3", ["zstd", "-q", "-f", "-3", capture, "-o", f"{folder}/out.3.zst"], "out.3.zst"),
        ("zstd -19 --long=27", ["zstd", "-q", "-f", "-19", "--long=27", capture, "-o", f"{folder}/out.19.zst"], "out.19.zst"),
    ]


def run(command, folder, written):
    """Wall seconds, processor seconds, peak bytes, bytes written; None when the tool fails."""
    out = f"{folder}/{written or 'stdout'}"
    started = time.monotonic()
    with open(f"{folder}/stdout", "wb") as stdout:
        child = os.posix_spawnp(command[0], command, os.environ,
                                file_actions=[(os.POSIX_SPAWN_DUP2, stdout.fileno(), 1),
                                              (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
        _, status, usage = os.wait4(child, 0)
    wall = time.monotonic() - started
    if os.waitstatus_to_exitcode(status) != 0 or not os.path.exists(out):
        return None
    size = os.path.getsize(out)
    os.remove(out)
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, size


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture")
    parser.add_argument("rounds", nargs="?", type=int, default=2)
    parser.add_argument("--program", default=str(ROOT / "build/release/src/cli/stackpack"))
    parser.add_argument("--without", action="append", default=[], metavar="TOOL")
    return parser.parse_args()


def main():
    given = arguments()
    capture, rounds = given.capture, given.rounds
    best, missing = {}, set()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for name, command, written in tools(given.program, capture, folder):
                if name in missing or name.startswith(tuple(given.without)):
                    continue
                result = run(command, folder, written) if shutil.which(command[0]) else None
                if result is None:
                    missing.add(name)
                    print(f"{name}: not there, or failed", file=sys.stderr)
                    continue
                print(f"{name}: {result[0]:.2f} s", file=sys.stderr)
                best[name] = tuple(map(min, best.get(name, result), result))
    ours = best.get("stackpack convert")
    if ours is None:
        sys.exit("stackpack itself failed")
    print(f"capture: {os.path.getsize(capture) / 1e6:.1f} MB, least of {rounds} rounds")
    print(f"{'tool':30} {'wall s':>8} {'x':>6} {'cpu s':>8} {'x':>6} {'peak MiB':>9} {'x':>6} {'MB out':>9} {'x':>6}")
    for name, result in best.items():
        units = (1, 1, 2**20, 1e6)
        cells = [f"{value / unit:{9 if unit > 1 else 8}.2f} {value / base:6.1f}"
                 for value, base, unit in zip(result, ours, units)]
        print(f"{name:30} {' '.join(cells)}")


if __name__ == "__main__":
    main()
