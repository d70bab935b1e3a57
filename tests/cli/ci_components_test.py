#!/usr/bin/env python3
"""Runs the steps of action.yml and of the component for GitLab, as they are written: ci_components_test.py PROGRAM SOURCE_DIR

What surrounds them is played: inputs and expressions are filled in, `gh` keeps the comment. Captures are profiles of a
program with five functions. In order, for each: without a baseline nothing is compared, no change passes, a change of
`parse` fails with status 3 and is in the comment, and passes under a condition that allows it. Then with a gate's file and a
folder of baselines: two commits are added to it, a change passes, one of `parse` fails and is not added. 77: no PyYAML.
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    # Debian's own Python has it, where another one comes first.
    if os.path.realpath(sys.executable) != os.path.realpath("/usr/bin/python3") and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])
    print("skipped: no PyYAML (python3-yaml)")
    sys.exit(77)

GH = '#!/bin/sh\necho "$@" | grep -q edit-last && exit 1\ncp "$(echo "$@" | sed "s/.*--body-file //; s/ .*//")" "$POSTED"\n'
STRICT = "self share +1pp"
LAX = "self share +40pp"


def write_captures(folder, parse, seed):
    """Five captures: folded text, which convert reads like any other."""
    folder.mkdir(parents=True)
    shares = {"parse": parse, "render": 0.3, "idle": 0.1, "load": 0.2, "store": 0.15}
    for run in range(5):
        picks = random.Random(f"{seed}/{run}").choices(list(shares), list(shares.values()), k=4000)
        text = "".join(f"main;{name} {picks.count(name)}\n" for name in shares)
        (folder / f"{run}.folded").write_text(text, encoding="utf-8")


def shell(text, work, environment):
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text], cwd=work, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class Place:
    """Where one run of a pipeline works, with the tools that it calls."""

    def __init__(self, folder, program, parse, seed, baseline):
        self.work = folder / f"run{seed}"
        write_captures(self.work / "captures", parse, seed)
        if baseline is not None:
            subprocess.run(["cp", "-r", baseline, self.work / "baseline"], check=True)
        tools = self.work / "tools"
        tools.mkdir()
        (tools / "gh").write_text(GH, encoding="utf-8")
        (tools / "gh").chmod(0o755)
        (tools / "stackpack").symlink_to(program)
        self.environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", POSTED=str(self.work / "posted.md"))

    def runs(self):
        return self.work / "stackpack-out" / "runs"


class Action:
    """action.yml, as a runner carries it out."""

    name = "action"

    def __init__(self, source, program):
        self.action = yaml.safe_load((source / "action.yml").read_text(encoding="utf-8"))
        self.program = program

    def run(self, place, conditions, more=()):
        given = {"captures": "captures/*.folded", "baseline": "baseline/*.spk", "fail-if": conditions, "comment": "true",
                 "program": str(self.program), "symbolize": "false"} | dict(more)
        inputs = {name: given.get(name, rule.get("default", "")) for name, rule in self.action["inputs"].items()}
        outputs, status = {}, 0

        def value(match):
            kind, _, rest = match[1].partition(".")
            if kind == "inputs":
                return inputs[rest]
            if kind == "steps":
                step, name = rest.split(".outputs.")
                return outputs[step][name]
            return {"github.event.number": "7", "github.token": "none", "github.sha": "none"}[match[1]]

        for step in self.action["runs"]["steps"]:
            if "uses" in step or step["id"] == "add" and (not inputs["add-baseline"] or outputs["compare"]["status"] != "0"):
                continue
            kept = place.work / f"{step['id']}.output"
            kept.touch()
            environment = dict(place.environment, GITHUB_OUTPUT=str(kept), RUNNER_TEMP=str(place.work),
                               GITHUB_STEP_SUMMARY=str(place.work / "summary.md"))
            for name, text in step.get("env", {}).items():
                environment[name] = re.sub(r"\$\{\{ *([^ }]+) *\}\}", value, text)
            if "${{" in step["run"]:
                raise ValueError(f"{step['id']}: an expression inside a shell text")
            status, said = shell(step["run"], place.work, environment)
            outputs[step["id"]] = dict(line.split("=", 1) for line in kept.read_text(encoding="utf-8").splitlines())
            if status:
                if status != 3:
                    print(said)
                break
        posted = place.work / "posted.md"
        return status, posted.read_text(encoding="utf-8") if posted.exists() else ""


class Component:
    """The component of GitLab: one job, whose lines are one script."""

    name = "component"

    def __init__(self, source, _program):
        text = (source / "templates/profile/template.yml").read_text(encoding="utf-8")
        self.spec, self.jobs = text.split("\n---\n")

    def run(self, place, conditions, more=()):
        given = {"captures": "captures/*.folded", "fail-if": conditions.replace("\n", "; ")} | dict(more)
        inputs = {name: given.get(name, (rule or {}).get("default"))
                  for name, rule in yaml.safe_load(self.spec)["spec"]["inputs"].items()}
        jobs = yaml.safe_load(re.sub(r"\$\[\[ inputs\.([a-z-]+) \]\]", lambda match: inputs[match[1]], self.jobs))
        job = jobs[inputs["job"]]
        environment = dict(place.environment, **job["variables"], CI_COMMIT_BRANCH="main", CI_DEFAULT_BRANCH="main",
                           CI_COMMIT_SHORT_SHA=given.get("commit", "none"))
        status, said = shell("\n".join(job["script"]), place.work, environment)
        if status not in (0, 3):
            print(said)
        _, comment = shell("\n".join(job["after_script"]), place.work, environment)
        return status, comment


def check(problems, what, good):
    print(("ok    " if good else "WRONG ") + what)
    if not good:
        problems.append(what)


def try_all(system, program, folder, problems):
    name = system.name
    first = Place(folder, program, 0.25, 1, None)
    status, comment = system.run(first, STRICT)
    check(problems, f"{name}: without a baseline", status == 0 and "no baseline" in comment)
    check(problems, f"{name}: a database and a page a capture",
          len(list(first.runs().glob("*.spk"))) == 5 and len(list(first.runs().glob("*.html"))) == 5)
    second = Place(folder, program, 0.25, 2, first.runs())
    status, comment = system.run(second, STRICT)
    check(problems, f"{name}: no change passes", status == 0 and "no change seen" in comment)
    check(problems, f"{name}: the comparison as a page and as JSON",
          all((second.runs().parent / file).exists() for file in ("diff.html", "diff.json")))
    status, comment = system.run(Place(folder, program, 0.33, 3, first.runs()), f"{LAX}\n{STRICT}")
    check(problems, f"{name}: a change of `parse` fails", status == 3 and "**failed**: `parse" in comment)
    status, comment = system.run(Place(folder, program, 0.33, 4, first.runs()), LAX)
    check(problems, f"{name}: and passes where less is asked", status == 0 and "parse" in comment)


def try_baselines(system, program, folder, problems):
    """A gate's file, and a folder of baselines that grows."""
    name, base = system.name, folder / "base"

    def run(parse, seed):
        place = Place(folder, program, parse, seed, None)
        (place.work / "gate.toml").write_text('fail-if = ["total cost +5%", "self share +1pp"]\nallow = ["render"]\n',
                                              encoding="utf-8")
        status, comment = system.run(place, "", {"gate": "gate.toml", "baseline": str(base), "add-baseline": str(base),
                                                 "keep-commits": "2", "commit": f"c{seed}"})
        kept = sorted(path.name.split("-")[1] for path in base.glob("*.spk"))
        return status, comment, kept

    for seed in (11, 12, 13):
        status, comment, kept = run(0.25, seed)
        wanted = [f"c{one}" for one in (seed - 1, seed) if one > 10 for _ in range(5)]
        check(problems, f"{name}: commit {seed} becomes a baseline", status == 0 and kept == wanted)
    check(problems, f"{name}: compared with both commits", status == 0 and "10 runs before" in comment)
    status, comment, after = run(0.33, 14)
    check(problems, f"{name}: the gate's file fails it, and it becomes none",
          status == 3 and "**failed**: `parse" in comment and after == kept)


def main():
    program, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    problems = []
    for system in (Action(source, program), Component(source, program)):
        with tempfile.TemporaryDirectory(prefix="ci-") as folder:
            try_all(system, program, pathlib.Path(folder), problems)
            try_baselines(system, program, pathlib.Path(folder), problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
