"""The example for Dask, on a cluster of processes of this machine."""
import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import stackpack

pytest.importorskip("distributed")

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "fleet" / "dask_fleet.py"
COUNT = 60


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def command(folder):
    return [sys.executable, EXAMPLE, folder / "captures", folder / "packed", folder / "scratch", folder / "dask.spk",
            "--workers", "2", "--fan-in", "5"]


def children(pid):
    """Process ids of children, and theirs."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *children(int(child))]
    return found


def kill_a_worker(pid, packed):
    """Ends one of the processes that tasks run in, once the first files are there; how many there were."""
    while len(list(packed.rglob("*.spk"))) < 3:
        time.sleep(0.01)
    worker = next(child for child in children(pid)
                  if b"spawn_main" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes())
    os.kill(worker, signal.SIGKILL)
    return len(list(packed.rglob("*.spk")))


def test_dask_gives_what_one_machine_gives(tmp_path, captures):
    subprocess.run([sys.executable, ROOT / "bench" / "capture_variants.py", captures / "file.perf.data",
                    tmp_path / "captures", "--count", str(COUNT)], check=True)
    (tmp_path / "captures" / "broken.data").write_bytes(b"PERFILE2 and no more")
    with subprocess.Popen(command(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        assert kill_a_worker(job.pid, tmp_path / "packed") < COUNT
        out, err = job.communicate(timeout=600)
    assert job.returncode == 2, err[-3000:]
    counts = out.split()
    assert counts[0::2] == ["written", "skipped", "failed"] and counts[5] == "1"
    assert int(counts[1]) + int(counts[3]) == COUNT
    assert "broken.data: offset 8: " in err
    files = sorted((tmp_path / "packed").rglob("*.spk"))
    assert len(files) == COUNT
    report = stackpack.merge(files, tmp_path / "one.spk")
    assert report.sources == COUNT
    assert digest(tmp_path / "dask.spk") == digest(tmp_path / "one.spk")

    again = subprocess.run(command(tmp_path), capture_output=True, text=True, timeout=600, check=False)
    assert again.stdout.split() == ["written", "0", "skipped", str(COUNT), "failed", "1"]
    assert digest(tmp_path / "dask.spk") == digest(tmp_path / "one.spk")
