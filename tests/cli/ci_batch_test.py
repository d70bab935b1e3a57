#!/usr/bin/env python3
"""Runs the recipes of docs/ci.md for many captures, as they are written: ci_batch_test.py PROGRAM SOURCE_DIR

The captures have blanks in their names, lie in folders, and two of them have one name. Of each system its steps are run
where everything is well, and where one capture of a sub-folder has lost events: the gate has to see it. Then GNU
parallel (where it is installed), make, the job array and the one-line questions to reports.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from ci_steps_test import check, indented_after, yaml_steps

# Captures, and the recordings that they are copies of.
PERF = {"a b.perf.data": "file.perf.data", "x/one.perf.data": "events.perf.data", "y y/one.perf.data": "group.perf.data"}
ETL = {"c d.etl": "sampled.x64.etl", "x/two.etl": "sampled.x86.etl", "y y/two.etl": "sampled.x64.huffman.etl"}


class Place:
    """A folder with captures, and a shell in it."""

    def __init__(self, program, source, files):
        self.source, self.folder = source, pathlib.Path(tempfile.mkdtemp(prefix="ci batch "))
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "stackpack").symlink_to(os.path.abspath(program))
        self.environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")
        self.put(files)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def put(self, files):
        for name, original in files.items():
            path = self.folder / "captures" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.source / "testdata" / original, path)

    def shell(self, text, **environment):
        return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], cwd=self.folder, text=True, check=False,
                              env=dict(self.environment, **environment), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)

    def packed(self, below="packed"):
        """Outputs, and how often they were written to."""
        root = self.folder / below
        return {str(path.relative_to(root)): path.stat().st_mtime_ns for path in root.rglob("*.spk")}


def wanted(files, prefix=""):
    return {f"{prefix}{name}.spk" for name in files}


def steps_of(document):
    """The steps of each system which convert and judge."""
    found = {}
    for system, heading in (("github", "## GitHub Actions"), ("gitlab", "## GitLab"), ("jenkins", "## Jenkins")):
        text = document[document.index(heading + "\n") + len(heading):]
        block = indented_after(text, "    ")
        steps = [a or b for a, b in re.findall(r"""\bsh (?:'([^']*)'|"([^"]*)")""", block)]
        steps = steps if system == "jenkins" else yaml_steps(block)
        found[system] = [step for step in steps if "stackpack" in step and "apt-get" not in step]
    return found


def check_systems(problems, document, program, source, lossy):
    for system, steps in steps_of(document).items():
        check(problems, f"{system}: two steps in the document", len(steps) == 2)
        for lost in (False, True):
            with Place(program, source, {**PERF, **ETL}) as place:
                if lost:
                    shutil.copyfile(lossy, place.folder / "captures" / "y y" / "lost.perf.data")
                done = [place.shell(step) for step in steps]
                check(problems, f"{system}: converts", done[0].returncode == 0)
                gate = done[-1]
                good = gate.returncode != 0 and "lost.perf.data.spk: check failed" in gate.stdout if lost else gate.returncode == 0
                check(problems, f"{system}: the gate sees {'a loss' if lost else 'none'}, sub-folders too", good)
        with Place(program, source, {}) as place:
            (place.folder / "packed").mkdir()
            check(problems, f"{system}: a gate over nothing fails", place.shell(steps[-1]).returncode != 0)


def check_again(problems, what, place, run, files, more, prefix=""):
    """A recipe: all is there; done again nothing is written; what comes later alone is."""
    first = run()
    before = place.packed()
    check(problems, f"{what}: every capture has its own output", first.returncode == 0 and set(before) == wanted(files, prefix))
    check(problems, f"{what}: again, nothing is written", run().returncode == 0 and place.packed() == before)
    place.put(more)
    done = run()
    after = place.packed()
    check(problems, f"{what}: later, what is new",
          done.returncode == 0 and set(after) == wanted({**files, **more}, prefix) and before.items() <= after.items())


def check_parallel(problems, document, program, source):
    text = indented_after(document, "    find captures -name '*.etl' -print0 |")
    version = shutil.which("parallel") and subprocess.run(["parallel", "--version"], capture_output=True, text=True,
                                                          check=False).stdout
    if not version or "GNU parallel" not in version:
        print("skipped: GNU parallel is not installed")
        return
    with Place(program, source, ETL) as place:
        check_again(problems, "parallel", place, lambda: place.shell(text, HOME=str(place.folder)), ETL,
                    {"a a/two.etl": "sampled.x64.etl"}, "captures/")


def check_make(problems, document, program, source):
    text = indented_after(document, "    packed := $(shell find captures")
    if not shutil.which("make"):
        print("skipped: make is not installed")
        return
    with Place(program, source, PERF) as place:
        (place.folder / "Makefile").write_text(text)
        check_again(problems, "make", place, lambda: place.shell("make -j2 -k"), PERF, {"z z/one.perf.data": "zstd.perf.data"})


def check_array(problems, document, program, source):
    script = indented_after(document, "    #!/bin/bash\n    #SBATCH")
    with Place(program, source, ETL) as place:
        script = script.replace("/data/", f"{place.folder}/data/".replace(" ", "\\ "))
        listing = f"find '{place.folder}/captures' -name '*.etl' | sort > list.txt"
        check(problems, "array: the list is made as in the document", "| sort > list.txt" in document)
        place.shell(listing)
        done = [place.shell(script, SLURM_ARRAY_TASK_ID=str(task), SLURM_ARRAY_TASK_COUNT="2", SLURM_CPUS_PER_TASK="1")
                for task in (0, 1)]
        names = {pathlib.Path(name).name for name in place.packed("data/packed")}
        check(problems, "array: all tasks together convert all", all(task.returncode == 0 for task in done) and
              len(place.packed("data/packed")) == len(ETL) and names == {pathlib.Path(name).name + ".spk" for name in ETL})


def check_totals(problems, document, program, source):
    line = indented_after(document, "    find packed -name '*.spk' -exec").strip()
    with Place(program, source, {**PERF, **ETL}) as place:
        place.shell("stackpack convert captures --recursive --out-dir packed --quiet")
        done = place.shell(line.split(" | jq")[0])
        check(problems, "totals: of all files, sub-folders too", len(json.loads(done.stdout)) == len(PERF) + len(ETL) + 1)


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    document = (source / "docs/ci.md").read_text()
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        lossy = pathlib.Path(folder) / "lost.perf.data"
        subprocess.run([sys.executable, source / "tests/cli/make_capture.py", lossy, "100", "--lost", "3"], check=True)
        check_systems(problems, document, program, source, lossy)
    check_parallel(problems, document, program, source)
    check_make(problems, document, program, source)
    check_array(problems, document, program, source)
    check_totals(problems, document, program, source)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
