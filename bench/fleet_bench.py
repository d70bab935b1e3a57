#!/usr/bin/env python3
"""Many captures on one machine: `convert -j` and `merge`, Spark and Dask, a worker killed in the middle of each of the two.

    fleet_bench.py PROGRAM PYTHON RECORDING FOLDER [--count 2000] [--workers 2] [--only one,dask,spark]

PROGRAM is stackpack, PYTHON has the package with pyspark and dask, RECORDING is what capture_variants.py takes. A line for
each: seconds of the conversion and the merge, captures and MB a second, files, sha256 of the merged file. Status 1 when the
merged files differ. Spark is of the kind local-cluster: a master, and workers whose executors are processes.
"""
import argparse
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).parents[1]
FLEET = ROOT / "examples" / "fleet"


def processes_of(pid):
    """(pid, command line) of the processes below one."""
    found = []
    try:
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, task.read_text().split()):
                found.append((child, pathlib.Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ")))
                found += processes_of(child)
    except OSError:
        pass  # it is gone
    return found


class Victim(threading.Thread):
    """Kills a process below `pid` whose command line has `word`, once `folder` has `after` files."""

    def __init__(self, pid, word, folder, after):
        super().__init__(daemon=True)
        self.pid, self.word, self.folder, self.after = pid, word, folder, after
        self.killed = None

    def run(self):
        while pathlib.Path(f"/proc/{self.pid}").exists():
            if sum(1 for _ in self.folder.rglob("*.spk")) >= self.after:
                victims = [pid for pid, line in processes_of(self.pid) if self.word in line]
                if victims:
                    os.kill(victims[-1], signal.SIGKILL)
                    self.killed = sum(1 for _ in self.folder.rglob("*.spk"))
                    return
            time.sleep(0.05)


def run(command, environment, victim=None):
    """Seconds; `victim`: (word, folder, after)."""
    begin = time.monotonic()
    with subprocess.Popen([str(word) for word in command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as job:
        killer = Victim(job.pid, *victim) if victim else None
        if killer:
            killer.start()
        out, err = job.communicate()
    if job.returncode != 0:
        sys.exit(f"{command[0]}: status {job.returncode}\n{err[-4000:]}")
    seconds = time.monotonic() - begin
    if killer:
        print(f"  killed a worker after {killer.killed} files; {out.split(chr(10))[0]}", flush=True)
    return seconds


def on_one_machine(given, captures, folder, environment):
    packed = folder / "packed"
    convert = run([given.program, "convert", "--quiet", "-j", given.workers, "--out-dir", packed, "--recursive", captures],
                  environment)
    files = sorted(packed.rglob("*.spk"))
    (folder / "files.txt").write_text("".join(f"{path}\n" for path in files))
    merge = run([given.program, "merge", "--quiet", "--files-from", folder / "files.txt", "-o", folder / "all.spk"], environment)
    return convert, merge


def on_dask(given, captures, folder, environment):
    command = [given.python, FLEET / "dask_fleet.py", captures, folder / "packed", folder / "scratch", folder / "all.spk",
               "--workers", given.workers]
    return run(command, environment, (b"spawn_main", folder / "packed", given.count // 4)), 0


def on_spark(given, captures, folder, environment):
    submit = [pathlib.Path(given.python).parent / "spark-submit", "--master", f"local-cluster[{given.workers},1,1024]",
              "--conf", "spark.ui.enabled=false"]
    environment = dict(environment, PYSPARK_PYTHON=given.python, PYSPARK_DRIVER_PYTHON=given.python, SPARK_LOCAL_IP="127.0.0.1")
    convert = run([*submit, FLEET / "spark_convert.py", captures, folder / "packed", folder / "lake", "--tables", "",
                   "--tasks", given.count // 50], environment,
                  (b"CoarseGrainedExecutorBackend", folder / "packed", given.count // 4))
    return convert, run([*submit, FLEET / "spark_merge.py", folder / "packed", folder / "scratch", folder / "all.spk"],
                        environment)


ENGINES = {"one": on_one_machine, "dask": on_dask, "spark": on_spark}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("python", type=os.path.abspath)
    parser.add_argument("recording")
    parser.add_argument("folder", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default=",".join(ENGINES))
    given = parser.parse_args()
    captures = given.folder / "captures"
    if not captures.exists():
        subprocess.run([sys.executable, ROOT / "bench" / "capture_variants.py", given.recording, captures, "--count",
                        str(given.count)], check=True)
    size = sum(path.stat().st_size for path in captures.iterdir()) / 1e6
    digests = set()
    for name in given.only.split(","):
        folder = given.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        convert, merge = ENGINES[name](given, captures, folder, dict(os.environ))
        files = sum(1 for _ in (folder / "packed").rglob("*.spk"))
        digest = hashlib.sha256((folder / "all.spk").read_bytes()).hexdigest()
        digests.add(digest)
        both = convert + merge
        print(f"{name}: convert {convert:.1f} s, merge {merge:.1f} s, {given.count / both:.0f} captures/s {size / both:.2f} MB/s "
              f"in all, {files} files, {digest[:16]}", flush=True)
    return 1 if len(digests) != 1 else 0


if __name__ == "__main__":
    sys.exit(main())
