#!/usr/bin/env python3
"""Runs the shell steps of docs/ci.md for a gate on profiles, as they are written: ci_steps_test.py PROGRAM SOURCE_DIR

The scripts, the gate's file and the steps of the three systems are taken from the document. What they call and what is
not here is played: perf writes profiles of a program with five functions (as folded text, which convert reads as well),
git names the commit, gh and curl serve what the main branch kept, make and sudo do nothing. In order, for each system:
without a baseline the gate fails; the main branch keeps baselines of two commits; a change without effect passes, a
change of `parse` and one that costs more as a whole fail with status 3 and are in the comment, and the former passes where
the gate's file allows it.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PERF = """#!/usr/bin/env python3
import os, random, sys
seed = os.environ["SEED"] + open(os.environ["COUNTER"]).read() if os.path.exists(os.environ["COUNTER"]) else os.environ["SEED"]
open(os.environ["COUNTER"], "a").write("x")
random.seed(seed)
shares = {"parse": float(os.environ["PARSE"]), "render": 0.3, "idle": 0.1, "load": 0.2, "store": 0.15}
names = list(shares)
picks = random.choices(names, [shares[name] for name in names], k=int(4000 * float(os.environ["COST"])))
with open(sys.argv[sys.argv.index("-o") + 1], "w") as file:
    for name in names:
        file.write(f"main;{name} {picks.count(name)}\\n")
"""
GH = """#!/bin/sh
case "$1 $2" in
  "run list") if [ -d "$KEPT" ]; then echo 42; fi ;;
  "run download") mkdir -p base && cp "$KEPT"/* base/ ;;
  "pr comment") cat "$(echo "$@" | sed 's/.*--body-file \\([^ ]*\\).*/\\1/')" > posted.md ;;
esac
"""
CURL = """#!/bin/sh
[ -d "$KEPT" ] || exit 22
mkdir -p zipped/base && cp "$KEPT"/* zipped/base/
python3 -c "import shutil; shutil.make_archive('baseline', 'zip', 'zipped')" && rm -r zipped
"""
UNZIP = """#!/usr/bin/env python3
import sys, zipfile
zipfile.ZipFile(sys.argv[2]).extractall(sys.argv[sys.argv.index("-d") + 1])
"""


def indented_after(text, heading):
    """The indented block that begins with a line."""
    lines = text[text.index(heading):].split("\n")
    end = next((i for i, line in enumerate(lines) if i and line and not line.startswith("    ")), len(lines))
    return "\n".join(line[4:] for line in lines[:end]).strip() + "\n"


def script_of(text, name):
    block = indented_after(text, f"    # {name}")
    return block.split("\n\n")[0] + "\n"


def dedented(lines):
    depth = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[depth:] for line in lines)


def yaml_steps(text):
    """Shell texts of `run:` and of the items of `script:`, with what comes before each."""
    steps, lines, i = [], text.split("\n"), 0
    while i < len(lines):
        match = re.match(r"( *)(?:- )?(?:run: |- )(.*)$", lines[i]) if "run:" in lines[i] or lines[i].startswith("    - ") else None
        if match and not re.match(r" *- (uses|name):", lines[i]):
            body = match[2]
            if body == "|":
                depth, block, i = len(lines[i]) - len(lines[i].lstrip()), [], i + 1
                while i < len(lines) and (not lines[i].strip() or len(lines[i]) - len(lines[i].lstrip()) > depth):
                    block.append(lines[i])
                    i += 1
                steps.append(dedented([line for line in block if line.strip()]))
                continue
            steps.append(body)
        i += 1
    return steps


def jenkins_steps(text):
    return re.findall(r"\bsh '([^']*)'", text)


class System:
    """One CI system: its steps, run in a folder, on the main branch or on a change.

    on_change: numbers of the steps that `if:` and `when` leave to changes; on_main: to the main branch.
    """

    def __init__(self, name, steps, on_change, on_main, program, document):
        self.name, self.steps, self.document = name, steps, document
        self.on_change, self.on_main = on_change, on_main
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"ci-{name}-"))
        self.kept = self.folder / "kept"
        tools = self.folder / "tools"
        tools.mkdir()
        for tool, text in (("perf", PERF), ("gh", GH), ("curl", CURL), ("unzip", UNZIP), ("make", "#!/bin/sh\n"),
                           ("git", '#!/bin/sh\n[ "$*" = "rev-parse --short HEAD" ] && echo "c$SEED"\n'),
                           ("sudo", "#!/bin/sh\n")):
            (tools / tool).write_text(text)
            (tools / tool).chmod(0o755)
        (tools / "stackpack").symlink_to(os.path.abspath(program))
        self.path = f"{tools}:{os.environ['PATH']}"

    def run(self, branch, parse, seed, allow=None, cost=1.0):
        """Status and comment of one run of the pipeline."""
        work = self.folder / f"work{seed}"
        work.mkdir()
        for script in ("profile.sh", "gate.sh", "keep.sh", "stackpack-gate.toml"):
            (work / script).write_text(script_of(self.document, script))
        if allow:
            gate = (work / "stackpack-gate.toml").read_text()
            (work / "stackpack-gate.toml").write_text(gate.replace("allow = []", f"allow = {allow}"))
        if self.name == "jenkins" and self.kept.exists():
            (work / "old").mkdir()  # copyArtifacts
            subprocess.run(["cp", "-r", self.kept, work / "old" / "base"], check=True)
        environment = dict(os.environ, PATH=self.path, PARSE=str(parse), COST=str(cost), SEED=str(seed),
                           COUNTER=str(work / "counter"), KEPT=str(self.kept), PULL="7", CI_COMMIT_BRANCH=branch,
                           CI_DEFAULT_BRANCH="main", CI_API_V4_URL="http://localhost", CI_PROJECT_ID="1", CI_JOB_TOKEN="none")
        status = 0
        for number, step in enumerate(self.steps):
            if number in (self.on_change if branch == "main" else self.on_main):
                continue
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step], cwd=work, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                status = done.returncode
                if status != 3:
                    print(done.stdout)
                break
        if branch == "main" and status == 0:
            subprocess.run(["rm", "-rf", self.kept], check=True)
            subprocess.run(["cp", "-r", work / "base", self.kept], check=True)
        comment = work / ("posted.md" if self.name == "github" and branch != "main" else "comment.md")
        return status, comment.read_text() if comment.exists() else ""

    def kept_commits(self):
        return {path.name.split("-")[1] for path in self.kept.glob("*.spk")}, len(list(self.kept.glob("*.spk")))


def check(problems, what, good):
    print(("ok    " if good else "WRONG ") + what)
    if not good:
        problems.append(what)


def main():
    program, source = sys.argv[1:]
    document = (pathlib.Path(source) / "docs/ci.md").read_text()
    part = document[document.index("## A gate on changes"):document.index("## One machine")]
    texts = {name: indented_after(part[part.index(heading):], first)
             for name, heading, first in (("github", "### GitHub", "    name: profile"), ("gitlab", "### GitLab", "    profile:"),
                                          ("jenkins", "### Jenkins", "    pipeline {"))}
    systems = [System("github", yaml_steps(texts["github"]), {4}, {5}, program, part),
               System("gitlab", yaml_steps(texts["gitlab"]), set(), set(), program, part),
               System("jenkins", jenkins_steps(texts["jenkins"]), {3}, {4}, program, part)]
    problems = []
    for system in systems:
        wanted = {"github": 6, "gitlab": 3, "jenkins": 5}[system.name]
        check(problems, f"{system.name}: {wanted} steps in the document", len(system.steps) == wanted)
        status, comment = system.run("change", 0.25, 1)
        check(problems, f"{system.name}: without a baseline", status == 1 and "no baseline" in comment)
        status, _ = system.run("main", 0.25, 2)
        check(problems, f"{system.name}: the baseline is kept", status == 0 and system.kept_commits() == ({"c2"}, 5))
        status, _ = system.run("main", 0.25, 3)
        check(problems, f"{system.name}: the next commit is added to it",
              status == 0 and system.kept_commits() == ({"c2", "c3"}, 10))
        status, comment = system.run("change", 0.25, 4)
        check(problems, f"{system.name}: no change passes, against both commits",
              status == 0 and "no change seen" in comment and "10 runs before" in comment)
        status, comment = system.run("change", 0.33, 5)
        check(problems, f"{system.name}: a change of `parse` fails", status == 3 and "**failed**: `parse" in comment)
        status, comment = system.run("change", 0.33, 6, '["parse"]')
        check(problems, f"{system.name}: and passes when it is allowed", status == 0 and "allowed: `parse" in comment)
        status, comment = system.run("change", 0.25, 7, cost=1.2)
        check(problems, f"{system.name}: a change that costs a fifth more fails",
              status == 3 and "**failed**: `everything" in comment)
        subprocess.run(["rm", "-rf", system.folder], check=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
